// The schema of the steps between a record's text and a site's field: named transforms, and steps with settings.
import { z } from 'zod';
import type { Condition, ConditionGroups } from '../../posting/conditions.ts';
import { compilePattern, MalformedPatternError } from '../../posting/pattern.ts';
import { DEFAULT_ELEMENTS } from '../../posting/steps/sanitize.ts';
import { compileMatch, findContradiction, OTHERWISE_CHOICES, PLACE_PARTS } from '../../posting/steps/step.ts';
import { TRANSFORM_NAMES } from '../../posting/steps/transforms.ts';
import { pathSchema, timeZoneSchema } from './scalars.ts';

// The schema of conditions on a record: `{ remote: true, country: { not: US } }`, `{ date: closes, past: true }`, or a list of such groups.

/** `true` and whole numbers stand for their text; a number such as 1.50 would lose its zero. */
const scalars = [z.string(), z.boolean(), z.int()] as const;
const texts = [...scalars, z.array(z.union(scalars)).min(1)] as const;
type WrittenTexts = z.output<(typeof texts)[number]>;

const toTexts = (written: WrittenTexts): readonly string[] => [written].flat().map(String);
const textsSchema = z.union(texts).transform(toTexts);

/** A regular expression in RE2's syntax. */
export const patternSchema = z
  .string()
  .min(1)
  .superRefine((source, context) => {
    try {
      compilePattern(source);
    } catch (error) {
      if (!(error instanceof MalformedPatternError)) throw error;
      context.addIssue(error.message);
    }
  });

const MINUTE_MS = 60_000;
const UNIT_MS: Readonly<Record<string, number>> = {
  m: MINUTE_MS,
  h: 60 * MINUTE_MS,
  d: 24 * 60 * MINUTE_MS,
  w: 7 * 24 * 60 * MINUTE_MS,
};
/** Feeds have no dates before 2000. */
const MOST_MS = 36_500 * 24 * 60 * MINUTE_MS;

const DURATION = 'must be a number and a unit, such as 90m (minutes), 12h (hours), 30d (days) or 2w (weeks)';

/** Outputs milliseconds. */
const durationSchema = z
  .string({ error: DURATION })
  .regex(/^[1-9]\d*[mhdw]$/, DURATION)
  .transform((text) => Number(text.slice(0, -1)) * (UNIT_MS[text.slice(-1)] as number))
  .refine((ms) => ms <= MOST_MS, { error: 'must be at most 36500d' });

const YES_OR_NO = { error: 'must be true or false' };

const dateTests = {
  newer_than: durationSchema
    .optional()
    .describe(
      'A date at the path is not that long ago: `30d`. Units: `m` (minutes), `h`, `d`, `w` (weeks). Also holds for a date that is still to come.',
    ),
  older_than: durationSchema.optional().describe('A date at the path is that long ago: `30d`.'),
  past: z
    .boolean(YES_OR_NO)
    .optional()
    .describe(
      '`true`: a date at the path has passed; a day without a time has at its end. `false`: it has not. [mapping.md](mapping.md#conditions-on-dates) says when dates count as passed.',
    ),
  future: z
    .boolean(YES_OR_NO)
    .optional()
    .describe('`true`: a date at the path is still to come; a day is until it begins. `false`: it is not.'),
  order: z
    .enum(['month_first', 'day_first'])
    .optional()
    .describe('With a condition on dates: the order in dates such as 4/8/2012, which count as no dates without it.'),
  zone: timeZoneSchema
    .optional()
    .describe(
      "With a condition on dates: the time zone of days, and of times that name none. By default the feed's `time_zone`; without one, they have passed 12 hours later than in UTC: then they have everywhere.",
    ),
};

type DateTestName = 'newer_than' | 'older_than' | 'past' | 'future';
const DATE_TESTS: readonly DateTestName[] = ['newer_than', 'older_than', 'past', 'future'];
const DATE_SETTINGS = [...DATE_TESTS, 'order', 'zone'] as const;

const hasDateTest = (names: object): boolean => DATE_TESTS.some((name) => Object.hasOwn(names, name));

const testSchema = z
  .strictObject({
    ...dateTests,
    is: textsSchema.optional().describe('One of the texts at the path equals this text, or one of these.'),
    not: textsSchema.optional().describe('None of the texts at the path equals this text, or any of these.'),
    exists: z.boolean().optional().describe('`true`: there is a text at the path; `false`: there is none.'),
    matches: patternSchema.optional().describe('This regular expression (RE2) occurs in one of the texts.'),
    not_matches: patternSchema.optional().describe('This regular expression (RE2) occurs in none of the texts.'),
  })
  .refine((test) => Object.keys(test).length > 0, { error: 'says nothing; write exists: true, for example' })
  .refine((test) => hasDateTest(test) || (test.order === undefined && test.zone === undefined), {
    error: 'order and zone belong to newer_than, older_than, past or future',
  });

const groupSchema = z
  .record(pathSchema, z.union([...texts, testSchema]))
  .refine((group) => Object.keys(group).length > 0, { error: 'has no condition' })
  .transform((group, context): readonly Condition[] => {
    const { dated, others } = splitDated(group);
    const conditions = Object.entries(others).map(toCondition);
    if (dated === undefined) return conditions;
    const tests = z.strictObject({ date: datePathSchema, ...dateTests }).safeParse(dated);
    if (tests.success) {
      const { date, ...settings } = tests.data;
      return [toCondition([date, settings]), ...conditions];
    }
    for (const { path, message } of tests.error.issues) context.addIssue({ code: 'custom', path: [...path], message });
    return z.NEVER;
  });

const datePathSchema = z
  .string({
    error: ({ input }) =>
      input === undefined
        ? 'is missing: the path of the date; write { date: closes, past: true } or { closes: { past: true } }, where closes is the path'
        : 'must be the path of the date; write { date: closes, past: true }, where closes is the path',
  })
  .pipe(pathSchema);

/** A group may name the path of a date beside its settings: `{ date: closes, past: true }`. */
function splitDated(group: Readonly<Record<string, WrittenTest>>): {
  readonly dated: object | undefined;
  readonly others: Readonly<Record<string, WrittenTest>>;
} {
  const isSetting = (name: DateTestName): boolean =>
    Object.hasOwn(group, name) && (typeof group.date === 'string' || isValueOf(name, group[name]));
  if (!DATE_TESTS.some(isSetting)) return { dated: undefined, others: group };
  const names: readonly string[] = ['date', ...DATE_SETTINGS];
  const pick = (isOf: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(group).filter(([name]) => isOf(name)));
  return { dated: pick((name) => names.includes(name)), others: pick((name) => !names.includes(name)) };
}

/** A path could have the name of a setting; its conditions can be written `{ past: { is: true } }`. */
const isValueOf = (name: DateTestName, value: unknown): boolean =>
  name === 'past' || name === 'future' ? typeof value === 'boolean' : !isTest(value);

const isTest = (value: unknown): boolean => typeof value === 'object' && !Array.isArray(value);

/** One group of conditions that must all hold, or several, of which one must. */
export const conditionsSchema = z
  .union([groupSchema.transform((group) => [group]), z.array(groupSchema)])
  .transform((groups): ConditionGroups => groups);

type WrittenTest = WrittenTexts | z.output<typeof testSchema>;

function toCondition([path, test]: [string, WrittenTest]): Condition {
  if (typeof test !== 'object' || Array.isArray(test)) return { path, is: toTexts(test) };
  const { not_matches: notMatches, newer_than: newerThan, older_than: olderThan, order, ...others } = test;
  return {
    path,
    ...others,
    ...(notMatches === undefined ? {} : { notMatches }),
    ...(newerThan === undefined ? {} : { newerThan }),
    ...(olderThan === undefined ? {} : { olderThan }),
    ...dateOrderOf(order),
  };
}

/** The setting `order` as the steps have it. */
export const dateOrderOf = (order: 'month_first' | 'day_first' | undefined) =>
  order === undefined ? {} : ({ order: order === 'month_first' ? 'month first' : 'day first' } as const);

export const transformSchema = z.enum(TRANSFORM_NAMES);

const tableSchema = z.record(z.string().min(1), z.string()).superRefine((table, context) => {
  if (Object.keys(table).length === 0) context.addIssue('has no entry');
  const both = findContradiction(Object.entries(table));
  if (both === undefined) return;
  context.addIssue({
    code: 'custom',
    path: [both[1]],
    message: `contradicts the entry ${both[0]}: upper and lower case and spaces make no difference here`,
  });
});

const ELEMENT_NAME = /^(?!(?:script|style|iframe|object|embed|textarea|noscript)$)[a-z][a-z0-9]*$/;

const dateSchema = z.strictObject({
  order: z
    .enum(['month_first', 'day_first'])
    .optional()
    .describe('The order in dates such as 4/8/2012, which are refused without it.'),
  zone: timeZoneSchema.optional().describe('The time zone of times that name none.'),
  to: timeZoneSchema.optional().describe('The time zone in which the result is written. By default UTC.'),
  time: z.boolean().default(true).describe('`false`: only the date, as it is in the time zone `to`.'),
});

/** Settings of steps. They stand in a rule, or alone in its list `as`. */
export const stepSettings = {
  match: patternSchema
    .optional()
    .describe(
      'A regular expression (RE2): the field gets its first group, or the whole match if it has none. `.` matches no line break; `(?i)` ignores case, `(?s)` lets `.` match line breaks.',
    ),
  take: z
    .string()
    .min(1)
    .optional()
    .describe(
      'With `match`: what the field gets instead, with groups as `{1}`: `"{2}, {1}"`. `{0}` is the whole match.',
    ),
  map: z
    .union([z.string().min(1), tableSchema])
    .optional()
    .describe(
      "A table of the feed's texts and what the site gets instead (an empty text: nothing), or the path of a CSV file with such a table, relative to this file.",
    ),
  map_columns: z
    .tuple([z.string().min(1), z.string().min(1)])
    .optional()
    .describe(
      "With a CSV file: the names of the columns with the feed's texts and the site's. Without it, those are the first and the second column.",
    ),
  us_place: z
    .enum(PLACE_PARTS)
    .optional()
    .describe(
      'The `city` or the `state` of a U.S. place, such as "Tallahassee, FL", "WA - Seattle" or "Florida (Remote)". A place that is not clear rejects the posting.',
    ),
  date: dateSchema
    .optional()
    .describe(
      'A date to ISO 8601, like the transform `date`, with settings for time zones and the order of day and month.',
    ),
  sanitize: z
    .union([z.literal(true), z.array(z.string().regex(ELEMENT_NAME, 'must be the name of an HTML element')).min(1)])
    .optional()
    .describe(
      `Reduces HTML to these elements and the addresses of links: a list of names, or \`true\` for the usual ones (${DEFAULT_ELEMENTS.join(', ')}). Of other elements only the content stays; scripts and styles go. Comes after the list \`as\`.`,
    ),
  max_length: z
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe(
      'At most so many characters: a longer text is cut at a word, HTML after an element or at a word, with every element closed. Comes after the list `as`.',
    ),
  otherwise: z
    .enum(OTHERWISE_CHOICES)
    .optional()
    .describe(
      'What becomes of a text without an entry in the map, without a match, or of a place that is not clear: `reject` the posting, `keep` the text, or use the `default` (without one: nothing). Without this setting: the default if there is one; else the posting is rejected, but a text without a match leaves the field out.',
    ),
};

const stepGroup = z.strictObject(stepSettings);

/** The settings of steps, as written. */
export type WrittenSteps = z.output<typeof stepGroup>;

/** Reports settings that need another one. */
export function checkSteps(
  { match, take, map, map_columns, us_place, otherwise }: WrittenSteps,
  context: { addIssue(issue: { code: 'custom'; path: string[]; message: string }): void },
): void {
  const complain = (name: string, message: string | undefined) => {
    if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message });
  };
  if (map_columns !== undefined && typeof map !== 'string')
    complain('map_columns', 'works only with a map in a CSV file');
  if (take !== undefined) {
    if (match === undefined) complain('take', 'works only with match');
    else complain('take', whyNotTake(match, take));
  }
  const steps = [match, map, us_place].filter((step) => step !== undefined).length;
  if (otherwise !== undefined && steps !== 1) {
    const help =
      steps === 0 ? 'works only with map, match or us_place' : 'belongs to one step; write the steps one by one in as';
    complain('otherwise', help);
  }
}

function whyNotTake(pattern: string, take: string): string | undefined {
  try {
    compileMatch({ kind: 'match', pattern, take, otherwise: 'reject' }, '');
    return undefined;
  } catch (error) {
    // A mistake in the pattern itself is reported there.
    return error instanceof MalformedPatternError && error.message.startsWith('names') ? error.message : undefined;
  }
}

/** The names come last: a mistake inside a group would else be reported as a wrong name. */
export const stepSchema = z.union([
  stepGroup.superRefine(checkSteps).refine((step) => Object.keys(step).length > 0, { error: 'has no settings' }),
  transformSchema,
]);

/** A step of the list `as`, as written. */
export type WrittenStep = z.output<typeof stepSchema>;
