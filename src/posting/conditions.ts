// Conditions on a record: which alternative of a field applies, and which records are not postings.
import { compileDateTests, type DateTests, hasDateTest, type OutcomeSpan, unboundedSpan } from './date-conditions.ts';
import { compilePattern } from './pattern.ts';
import type { RecordTree } from './posting.ts';
import type { RecordDates } from './record-dates.ts';
import { foldText } from './steps/step.ts';
import { parseValuePath, textsAt } from './value-path.ts';

/** What the texts at one path must be like; all that is set must hold. */
export interface Condition extends DateTests {
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

/** @param dates the time by which dates are judged; without it, no condition on dates holds */
export type Holds = (record: RecordTree, dates?: RecordDates) => boolean;

/**
 * Compiles conditions once per feed. Throws `MalformedPathError` and `MalformedPatternError`, and a `RangeError` for an unknown
 * time zone.
 */
export function compileConditions(groups: ConditionGroups, withoutText: WithoutText): Holds {
  const compiled = groups.map((group) => group.map((condition) => compileCondition(condition, withoutText)));
  if (!groups.flat().some(hasDateTest)) {
    return (record) => compiled.some((group) => group.every((holds) => holds(record, NO_TIME, UNUSED)));
  }
  return (record, dates) => {
    const outcome = judge(compiled, record, dates?.now ?? NO_TIME);
    dates?.note(outcome);
    return outcome.holds;
  };
}

const NO_TIME = Number.NaN;
/** Only conditions on dates write to it. */
const UNUSED = unboundedSpan();

type Judges = (record: RecordTree, now: number, span: OutcomeSpan) => boolean;

/**
 * One condition that does not hold decides its group until it changes. If all hold, the first change of any may change the outcome;
 * so may, if no group holds, the first change of any group.
 */
function judge(groups: readonly (readonly Judges[])[], record: RecordTree, now: number) {
  const ofNone = unboundedSpan();
  for (const group of groups) {
    const ofAll = unboundedSpan();
    let failed: OutcomeSpan | undefined;
    for (const holds of group) {
      const span = unboundedSpan();
      if (!holds(record, now, span)) {
        failed = span;
        break;
      }
      narrow(ofAll, span);
    }
    if (failed === undefined) return { holds: true, ...ofAll };
    narrow(ofNone, failed);
  }
  return { holds: false, ...ofNone };
}

function narrow(span: OutcomeSpan, { since, until }: OutcomeSpan): void {
  span.since = Math.max(span.since, since);
  span.until = Math.min(span.until, until);
}

type TextsHold = (texts: readonly string[]) => boolean;

function compileCondition(condition: Condition, withoutText: WithoutText): Judges {
  const path = parseValuePath(condition.path);
  const { exists } = condition;
  const tests = [
    ...equalityTest(condition.is, true),
    ...equalityTest(condition.not, false),
    ...patternTest(condition.matches, true),
    ...patternTest(condition.notMatches, false),
  ];
  const datesHold = hasDateTest(condition) ? compileDateTests(condition) : undefined;
  return (record, now, span) => {
    const texts = textsAt(path, record).filter((text) => text.trim() !== '');
    if (exists !== undefined && exists !== texts.length > 0) return false;
    if (texts.length === 0 && withoutText === 'nothing holds') return exists === false && datesHold === undefined;
    if (!tests.every((test) => test(texts))) return false;
    return datesHold === undefined || (!Number.isNaN(now) && datesHold(texts, now, span));
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
