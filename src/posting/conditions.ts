// Conditions on a record: which alternative of a field applies, and which records are not postings.
import { type NumericOrder, type RecordDates, readDate } from './dates.ts';
import { parseValuePath, textsAt } from './paths/value-path.ts';
import { compilePattern } from './pattern.ts';
import type { RecordTree } from './posting.ts';
import { foldText } from './steps/step.ts';
import { compileTimeZone } from './steps/time-zones.ts';

// Conditions on dates: how long ago a date is, whether it has passed or is still to come, and when that will change.

/** What the dates at a path must be like; all that is set must hold. */
interface DateTests {
  /** One of the dates is not that long ago, in milliseconds; one that is still to come is not, either. */
  readonly newerThan?: number;
  /** One of the dates is that long ago, in milliseconds. */
  readonly olderThan?: number;
  /** One of the dates has passed; `false`: none has. */
  readonly past?: boolean;
  /** One of the dates is still to come; `false`: none is. A day that has begun and has not ended has neither passed nor is it to come. */
  readonly future?: boolean;
  /** The order of day and month in numeric dates. */
  readonly order?: NumericOrder;
  /** IANA name: the zone of days and of times that name none; absent: their last zone on Earth. */
  readonly zone?: string;
}

/** Since when, and until when, an outcome is what it is; infinite where no date bounds it. Milliseconds since 1970. */
interface OutcomeSpan {
  since: number;
  until: number;
}

const unboundedSpan = (): OutcomeSpan => ({
  since: Number.NEGATIVE_INFINITY,
  until: Number.POSITIVE_INFINITY,
});

/** When a date begins and ends, in milliseconds since 1970. A time does both at once. */
interface DateSpan {
  readonly begins: number;
  readonly ends: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Without a zone, a day or a time counts as one of the last zone on Earth (UTC-12): then it has passed everywhere. */
export const LAST_ZONE_MS = 12 * HOUR_MS;

/** Earlier dates stand for none: 0001, 1900 and 1970 are what programs write for none. */
const FIRST_DATE = Date.UTC(2000);

/** Years that are no years: 0000-00-00, 0001-01-01. */
const NO_DATE = /^00\d\d-\d{1,2}-\d{1,2}(?:$|[Tt ])/;

/** Seconds since 1970: 9 digits until 2001, 10 digits until 2286. */
const EPOCH_SECONDS = /^\d{9,10}(?:\.\d+)?$/;

/** Times whose conversion is remembered, as many postings have the same ones. */
const KNOWN_TIMES = 1_000;

export const hasDateTest = ({ newerThan, olderThan, past, future }: DateTests): boolean =>
  [newerThan, olderThan, past, future].some((test) => test !== undefined);

/** Reads a date of a condition, also one that stands for none; `undefined` for a text that is no date. */
export type ReadSpan = (text: string) => DateSpan | undefined;

/** Compiles how the dates of a condition are read. Throws a `RangeError` for an unknown zone. */
export function compileDateReader({ order, zone }: Pick<DateTests, 'order' | 'zone'>): ReadSpan {
  const timeZone = zone === undefined ? undefined : compileTimeZone(zone);
  const instants = new Map<number, number>();
  const toInstant = (wallClock: number): number => {
    if (timeZone === undefined) return wallClock + LAST_ZONE_MS;
    const known = instants.get(wallClock);
    if (known !== undefined) return known;
    const instant = timeZone.toInstant(wallClock);
    if (instants.size >= KNOWN_TIMES) instants.clear();
    instants.set(wallClock, instant);
    return instant;
  };
  const spanOf = (text: string): DateSpan | undefined => {
    if (NO_DATE.test(text)) return at(0);
    if (EPOCH_SECONDS.test(text)) return at(Math.round(Number(text) * 1000));
    const date = readDate(text, order);
    switch (date?.kind) {
      case undefined:
        return undefined;
      case 'day': {
        const midnight = Date.parse(date.iso);
        return { begins: toInstant(midnight), ends: toInstant(midnight + DAY_MS) };
      }
      case 'local':
        return at(toInstant(date.ms));
      case 'instant':
        return at(date.ms);
      default:
        return date satisfies never;
    }
  };
  return (text) => spanOf(text.trim());
}

const at = (ms: number): DateSpan => ({ begins: ms, ends: ms });

/** Whether the dates are as the tests want them at the time `now`. Narrows `span` to the time in which that stays so. */
export type DatesHold = (texts: readonly string[], now: number, span: OutcomeSpan) => boolean;

/**
 * Compiles the tests. A text that is no date is none of the dates, and of dates that are not all known, neither `past: false` nor
 * `future: false` holds; without a date, nothing does. A date changes the outcome of each test once:
 *
 * | test            | holds, for one of the dates             |
 * | --------------- | --------------------------------------- |
 * | `newerThan`     | until the time has passed since its end |
 * | `olderThan`     | from then on                            |
 * | `past: true`    | from its end on                         |
 * | `future: true`  | until its beginning                     |
 *
 * `past: false` and `future: false` hold if `true` does not.
 */
function compileDateTests(tests: DateTests): DatesHold {
  const readAny = compileDateReader(tests);
  const read: ReadSpan = (text) => {
    const span = readAny(text);
    return span === undefined || span.begins < FIRST_DATE ? undefined : span;
  };
  const compiled = [...testsOf(tests)];
  return (texts, now, span) => {
    const dates = texts.map(read);
    const known = dates.filter((date) => date !== undefined);
    if (known.length === 0) return false;
    let holds = true;
    for (const { changesAt, before, denies } of compiled) {
      let isAny = false;
      for (const date of known) {
        const instant = changesAt(date);
        const hasChanged = instant <= now;
        if (hasChanged) span.since = Math.max(span.since, instant);
        else span.until = Math.min(span.until, instant);
        isAny ||= hasChanged !== before;
      }
      holds &&= denies ? !isAny && known.length === dates.length : isAny;
    }
    return holds;
  };
}

interface CompiledTest {
  readonly changesAt: (date: DateSpan) => number;
  /** Whether a date is as wanted before it changes, or afterwards. */
  readonly before: boolean;
  /** No date may be like that. */
  readonly denies: boolean;
}

function* testsOf({ newerThan, olderThan, past, future }: DateTests): Generator<CompiledTest> {
  if (newerThan !== undefined) yield { changesAt: ({ ends }) => ends + newerThan, before: true, denies: false };
  if (olderThan !== undefined) yield { changesAt: ({ ends }) => ends + olderThan, before: false, denies: false };
  if (past !== undefined) yield { changesAt: ({ ends }) => ends, before: false, denies: !past };
  if (future !== undefined) yield { changesAt: ({ begins }) => begins, before: true, denies: !future };
}

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
export type ConditionTest = (record: RecordTree, dates?: RecordDates) => boolean;

/**
 * Compiles conditions once per feed. Throws `MalformedPathError` and `MalformedPatternError`, and a `RangeError` for an unknown
 * time zone.
 */
export function compileConditions(groups: ConditionGroups, withoutText: WithoutText): ConditionTest {
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
