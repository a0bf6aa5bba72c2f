// Compares what a site accepted for a posting with what its job shows now: sites rewrite values, and people change them.
import type { Fields } from '../posting/posting.ts';
import { isRewriting, isShownExactly, isShownUnpredictably, type LearntRewrites } from './observe-values.ts';
import { meansTheSame, type StatedTypes, typeOf } from './same-meaning.ts';
import { compareValues, fieldOf, type ValueChange } from './same-value.ts';
import { readForms, type ShownForms } from './shown-forms.ts';

export interface ShownRules {
  /** How the site is known to rewrite values. */
  readonly learnt: LearntRewrites;
  readonly referenceField: string | undefined;
  readonly stateField: string;
  /** The name of the state that a text means, if any. */
  readonly stateOf: (text: string) => string | undefined;
  /** Only these fields are compared; `undefined`: all. */
  readonly only: ReadonlySet<string> | undefined;
}

/** What the site last accepted. */
export interface AcceptedFields {
  readonly fields: Fields;
  /** What it showed of them then. */
  readonly forms: ShownForms;
}

/** A job as the site shows it now. */
export interface JobNow {
  /** As the site sent them. */
  readonly fields: Fields;
  readonly types?: StatedTypes | undefined;
  /** Whether it has all fields that the site shows: lists often leave some out. */
  readonly isWhole: boolean;
}

interface ShownComparison {
  /** Fields that the job shows with another value. */
  readonly changed: readonly string[];
  /** Fields that can't be compared: the job does not show them, or nobody knows how the site shows them. */
  readonly hidden: readonly string[];
  /** The hidden fields that could be compared if they were sent once more. */
  readonly unknown: readonly string[];
}

/** What a site may do to one value even if it shows most values exactly as sent: it depends on the text. */
const OF_SOME_TEXTS: ReadonlySet<ValueChange> = new Set(['space', 'unicode', 'markup']);

/**
 * | the job shows                                   | and after our last write it showed | the field is |
 * | ----------------------------------------------- | ---------------------------------- | ------------ |
 * | the value, by its meaning, or the same state    | anything                           | the same     |
 * | what it showed then                             | another value than was sent        | the same     |
 * | another value, or none although all is shown    | a value                            | changed      |
 * | nothing, and the value is not empty             | anything else                      | hidden       |
 * | anything, if the site shows no value alike      | not known                          | hidden       |
 * | a known or usual rewriting of the value [1]     | not known                          | the same     |
 * | another value                                   | not known                          | changed      |
 *
 * [1] Another case or a cut-off end counts as changed if the site is known to show the field exactly.
 */
export function compareShown({ fields, forms }: AcceptedFields, job: JobNow, rules: ShownRules): ShownComparison {
  const changed: string[] = [];
  const hidden: string[] = [];
  const unknown: string[] = [];
  const formOf = readForms(forms);
  for (const [name, value] of Object.entries(fields)) {
    if (rules.only !== undefined && !rules.only.has(name)) continue;
    const says = fieldOf(job.fields, name);
    const type = typeOf(job.types, name);
    if (isSameValue(name, value, says, { ...rules, type })) continue;
    const form = formOf(name);
    if (form.kind === 'rewritten' && says !== undefined && form.isShown(says)) continue;
    const wasShown = form.kind === 'as_sent' || form.kind === 'rewritten';
    if (says === undefined) {
      if (wasShown && (job.isWhole || type === 'nil')) changed.push(name);
      else hidden.push(name);
    } else if (wasShown) changed.push(name);
    else if (isShownUnpredictably(rules.learnt, name)) {
      hidden.push(name);
      unknown.push(name);
    } else if (!isRewritten(name, value, says, rules.learnt)) changed.push(name);
  }
  return { changed, hidden, unknown };
}

function isSameValue(
  name: string,
  value: string,
  says: string | undefined,
  { referenceField, stateField, stateOf, type }: ShownRules & { readonly type: ReturnType<typeof typeOf> },
): boolean {
  // A reference may look like a number, and is none unless the site says so.
  if (meansTheSame(value, says, type ?? (name === referenceField ? 'text' : undefined))) return true;
  return name === stateField && says !== undefined && isSameState(stateOf(value), stateOf(says));
}

function isRewritten(name: string, value: string, says: string, learnt: LearntRewrites): boolean {
  if (isRewriting(learnt, name, value, says)) return true;
  const changes = compareValues(value, says);
  if (changes === undefined) return false;
  return !isShownExactly(learnt, name) || changes.every((change) => OF_SOME_TEXTS.has(change));
}

const isSameState = (one: string | undefined, other: string | undefined): boolean => one !== undefined && one === other;
