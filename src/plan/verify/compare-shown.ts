// Compares what a site accepted for a posting with what its job shows now: sites rewrite values, and people change them.
import type { Fields } from '../../posting/posting.ts';
import { isRewriting, isShownExactly, isShownUnpredictably, type LearntRewrites } from '../observe-values.ts';
import { compareValues, fieldOf, type ValueChange } from '../same-value.ts';

export interface ShownRules {
  /** How the site is known to rewrite values. */
  readonly learnt: LearntRewrites;
  readonly stateField: string;
  /** The name of the state that a text means, if any. */
  readonly stateOf: (text: string) => string | undefined;
  /** Only these fields are compared; `undefined`: all. */
  readonly only: ReadonlySet<string> | undefined;
}

export interface ShownComparison {
  /** Fields that the job shows with another value. */
  readonly changed: readonly string[];
  /** Fields that can't be compared: the job does not show them, or the site shows them differently each time. */
  readonly hidden: readonly string[];
}

/** What a site may do to one value even if it shows most values exactly as sent: it depends on the text. */
const OF_SOME_TEXTS: ReadonlySet<ValueChange> = new Set(['space', 'unicode', 'markup']);

/**
 * | the job shows                              | the field is |
 * | ------------------------------------------ | ------------ |
 * | the value, or the same state               | the same     |
 * | a known rewriting of it                    | the same     |
 * | a usual rewriting of it [1]                | the same     |
 * | nothing, and the value is not empty        | hidden       |
 * | anything, if the site shows no value alike | hidden       |
 * | another value                              | changed      |
 *
 * [1] Another case or a cut-off end counts as changed if the site is known to show the field exactly.
 */
export function compareShown(accepted: Fields, shown: Fields, rules: ShownRules): ShownComparison {
  const changed: string[] = [];
  const hidden: string[] = [];
  for (const [name, value] of Object.entries(accepted)) {
    if (rules.only !== undefined && !rules.only.has(name)) continue;
    const says = fieldOf(shown, name);
    if (says === value || (says === undefined && value.trim() === '')) continue;
    if (says === undefined || isShownUnpredictably(rules.learnt, name)) hidden.push(name);
    else if (!isSame(name, value, says, rules)) changed.push(name);
  }
  return { changed, hidden };
}

function isSame(name: string, value: string, says: string, { learnt, stateField, stateOf }: ShownRules): boolean {
  if (name === stateField && isSameState(stateOf(value), stateOf(says))) return true;
  if (isRewriting(learnt, name, value, says)) return true;
  const changes = compareValues(value, says);
  if (changes === undefined) return false;
  return !isShownExactly(learnt, name) || changes.every((change) => OF_SOME_TEXTS.has(change));
}

const isSameState = (one: string | undefined, other: string | undefined): boolean => one !== undefined && one === other;
