// Conditions on a record: which alternative of a field applies, and which records are not postings.

import { compilePattern } from './pattern.ts';
import type { RecordTree } from './posting.ts';
import { foldText } from './steps/look-up.ts';
import { parseValuePath, textsAt } from './value-path.ts';

/** What the texts at one path must be like; all that is set must hold. */
export interface Condition {
  readonly path: string;
  /** One of the texts equals one of these, apart from case and the number of spaces. */
  readonly is?: readonly string[];
  /** None of the texts equals any of these. */
  readonly not?: readonly string[];
  /** Whether there is a text. */
  readonly exists?: boolean;
  /** The pattern occurs in one of the texts. */
  readonly matches?: string;
  /** The pattern occurs in none of the texts. */
  readonly notMatches?: string;
}

/** Holds if all conditions of any group hold. */
export type ConditionGroups = readonly (readonly Condition[])[];

/** Whether a condition about texts holds without any; `exists: false` always does. */
export type WithoutText = 'a denial holds' | 'nothing holds';

export type Holds = (record: RecordTree) => boolean;

/** Compiles conditions once per feed. Throws `MalformedPathError` and `MalformedPatternError`. */
export function compileConditions(groups: ConditionGroups, withoutText: WithoutText): Holds {
  const compiled = groups.map((group) => group.map((condition) => compileCondition(condition, withoutText)));
  return (record) => compiled.some((group) => group.every((holds) => holds(record)));
}

type TextsHold = (texts: readonly string[]) => boolean;

function compileCondition(condition: Condition, withoutText: WithoutText): Holds {
  const path = parseValuePath(condition.path);
  const { exists } = condition;
  const tests = [
    ...equalityTest(condition.is, true),
    ...equalityTest(condition.not, false),
    ...patternTest(condition.matches, true),
    ...patternTest(condition.notMatches, false),
  ];
  return (record) => {
    const texts = textsAt(path, record).filter((text) => text.trim() !== '');
    if (exists !== undefined && exists !== texts.length > 0) return false;
    if (texts.length === 0 && withoutText === 'nothing holds') return exists === false;
    return tests.every((test) => test(texts));
  };
}

function equalityTest(values: readonly string[] | undefined, expected: boolean): readonly TextsHold[] {
  if (values === undefined) return [];
  const folded = new Set(values.map(foldText));
  return [(texts) => texts.some((text) => folded.has(foldText(text))) === expected];
}

/** A text that is too long for the pattern decides nothing: then neither `matches` nor its denial holds. */
function patternTest(source: string | undefined, expected: boolean): readonly TextsHold[] {
  if (source === undefined) return [];
  const pattern = compilePattern(source);
  return [
    (texts) => {
      // All texts of a record together take no longer than one.
      let characters = 0;
      const found = texts.map((text) => {
        characters += text.length;
        return characters > pattern.longest ? undefined : pattern.occursIn(text);
      });
      if (found.includes(true)) return expected;
      return !expected && !found.includes(undefined);
    },
  ];
}
