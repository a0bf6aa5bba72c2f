// The schemas of values in requests: bounded, and without what the database can't store.
import { z } from 'zod';
import type { Action } from '../plan/action.ts';
import type { Notice } from '../plan/message.ts';
import {
  type FeedName,
  MAX_KEY_LENGTH,
  type PostingKey,
  postingKey,
  type SiteJobId,
  type SiteName,
} from '../posting/identifiers.ts';
import { FIELD_NAME } from '../posting/site-rules.ts';
import type { Refused } from '../review/act-on-entries.ts';
import { readJobId, readJobUrl } from '../site/http/job-address.ts';
import type { BulkEdit } from '../store/review/bulk-actions.ts';
import type { OperationRefused } from './operation.ts';

const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

/** A text of at most so many characters, without NUL and broken characters. */
export const text = (most: number) =>
  z
    .string()
    .max(most, `must have at most ${most} characters`)
    .refine(isStorable, 'must not hold NUL characters or halves of characters');

export const nameText = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'must be the name of a feed or site');
/** The name of a feed that is looked up: the database or a wrong configuration may have others than {@link nameText} allows. */
export const feedNameText = text(200).min(1, 'must not be empty');
export const groupSchema = z.string().regex(/^g[0-9a-f]{10}$/, 'must be the ID of a group');
const SPAN_MS = { s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const SPAN = /^(\d{1,6})(s|min|h|d)$/;

/** A duration: `90s`, `30min`, `12h`, `3d`. */
export const spanText = z.string().regex(SPAN, 'must be a duration such as 30min, 12h or 3d');

/** In milliseconds. */
export function spanMs(written: string): number {
  const [, count, unit] = SPAN.exec(written) ?? [];
  return Number(count) * SPAN_MS[unit as keyof typeof SPAN_MS];
}

const NAMED_DAYS: Readonly<Record<string, number>> = { today: 0, yesterday: 1 };
const A_DATE = /^\d{4}-\d{2}-\d{2}$/;
const A_TIME = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:?\d{2})?$/i;

/** A moment as people name it: a time, a date, a duration ago, `today`, `yesterday`. */
export const momentText = z
  .string()
  .max(100)
  .refine(
    (written) => momentOf(written) !== undefined,
    'must be today, yesterday, a date such as 2026-03-20, a time such as 2026-03-20T14:00, or how long ago, such as 12h or 3d',
  );

/** For descriptions: one rule for all times that people write, which messages follow as well. */
export const TIME_ZONE_RULE =
  'Days, and times without a zone such as `Z` or `+02:00`, are in the time zone of the machine that reads them, as times in messages are.';

/** A moment to come: a time or a date as in {@link momentText}, or a duration from now on. */
export const endText = text(40).refine(
  (written) => endOf(written, new Date()) !== undefined,
  'must be a duration such as 2h or 3d, or a time such as 2026-12-24 18:00',
);

/** `undefined`: the text names none. */
export const endOf = (written: string, now: Date): Date | undefined =>
  SPAN.test(written) ? new Date(now.getTime() + spanMs(written)) : momentOf(written, now);

/** Days, and times without a zone, are those of the machine's time zone. A day is its first moment. `undefined`: the text names none. */
export function momentOf(written: string, now = new Date()): Date | undefined {
  const daysAgo = NAMED_DAYS[written.toLowerCase()];
  if (daysAgo !== undefined) return new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo);
  if (SPAN.test(written)) return new Date(now.getTime() - spanMs(written));
  if (!A_DATE.test(written) && !A_TIME.test(written)) return undefined;
  const time = new Date(A_DATE.test(written) ? `${written}T00:00` : written.replace(' ', 'T'));
  // A day that the month does not have would become another one.
  return Number.isNaN(time.getTime()) || !isDay(written.slice(0, 10)) ? undefined : time;
}

/** Whether there is such a day: `2027-02-30` is none. */
function isDay(written: string): boolean {
  const day = new Date(`${written}T00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(written);
}

/** Characters of a key count as the feed's do: one that takes two units of UTF-16 is one. */
export const keyText = text(2 * MAX_KEY_LENGTH)
  .min(1, 'must not be empty')
  .refine((key) => [...key].length <= MAX_KEY_LENGTH, `must have at most ${MAX_KEY_LENGTH} characters`);
/** The key of a posting, which begins and ends without space. */
export const postingKeyText = keyText.transform((key) => postingKey(key.trim()));
/** The ID of a job on its site, or its address as answers and commands show it. */
export const siteJobIdText = text(2_000).transform((written, context): SiteJobId => {
  const isUrl = /^https?:\/\//i.test(written) && URL.canParse(written);
  const { siteJobId, guessedId } = isUrl ? readJobUrl(written, new URL(written)) : { siteJobId: readJobId(written) };
  const id = siteJobId ?? guessedId;
  if (id !== undefined) return id;
  context.addIssue({ code: 'custom', message: "can't be the ID of a job" });
  return z.NEVER;
});
export const numberSchema = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, 'must be a number')
  .transform(Number);
export const fieldName = z.string().regex(FIELD_NAME, 'must be the name of a field');
export const fieldsSchema = z
  .record(fieldName, text(200_000))
  .refine((fields) => Object.keys(fields).length > 0, 'must hold at least one field');

export const limitSchema = z
  .string()
  .regex(/^\d{1,4}$/, 'must be a number from 1 to 200')
  .transform(Number)
  .refine((limit) => limit >= 1 && limit <= 200, 'must be a number from 1 to 200')
  .optional()
  .describe('How many at most, from 1 to 200; 50 by default.');

export const cursorSchema = z
  .string()
  .max(4_000)
  .regex(/^[A-Za-z0-9_-]+$/, 'must be the next_cursor of an earlier answer')
  .optional()
  .describe('The `next_cursor` of the answer before.');

export const NO_MEMBERS = z.strictObject({});

/** Names in answers: texts that keep their brand within the program. */
const branded = <Name extends string>() => z.string() as unknown as z.ZodType<Name, string>;
export const feedNameOutput = branded<FeedName>();
export const siteNameOutput = branded<SiteName>();
export const keyOutput = branded<PostingKey>();

/** A list in answers, which the program may have as a constant one. */
export const listIn = <Item extends z.ZodType>(item: Item) =>
  z.array(item) as unknown as z.ZodType<readonly z.output<Item>[], readonly z.input<Item>[]>;

type CamelCase<Name extends string> = Name extends `${infer Word}_${infer Rest}`
  ? `${Word}${Capitalize<CamelCase<Rest>>}`
  : Name;

type HeldAs<Value> = Value extends readonly (infer Item)[] ? readonly Item[] : Value;

/** What the program has for an answer: members in camel case, of which those may be missing that may be `null` or missing in the answer. */
type RowOf<Answer> = {
  readonly [Name in keyof Answer & string as Answer[Name] & (null | undefined) extends never
    ? CamelCase<Name>
    : never]: HeldAs<Answer[Name]>;
} & {
  readonly [Name in keyof Answer & string as CamelCase<Name>]?: HeldAs<Answer[Name]> | null | undefined;
};

/** The answer with these members of its own, and all others from the row. */
export function answerOf<Shape extends z.ZodObject, Own extends Partial<z.output<Shape>>>(
  { shape }: Shape,
  row: RowOf<Omit<z.output<Shape>, keyof Own>>,
  own: Own,
): z.output<Shape> {
  const members = Object.entries(shape as Readonly<Record<string, z.ZodType>>).flatMap(([name, schema]) => {
    if (name in own) return [];
    const camelCase = name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    const value = (row as Readonly<Record<string, unknown>>)[camelCase];
    return value === undefined && isOptional(schema) ? [] : [[name, value ?? null]];
  });
  return { ...Object.fromEntries(members), ...own } as z.output<Shape>;
}

/** A time in answers: a `Date` within the program, ISO 8601 in JSON. */
export const time = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});

/** What people are told, in answers: one text in JSON, and within the program with what can be done about it. */
export const noticeOutput = z.codec(z.string(), z.custom<Notice>(), {
  decode: (text) => ({ messages: [text], text }),
  encode: ({ text }) => text,
});

/** What a person can do about something, as data. */
export const actionOutput = (z.looseObject({ kind: z.string() }) as unknown as z.ZodType<Action, object>).describe(
  'Something that can be done about it.',
);

/** What is wrong with a field, or was altered in it. */
export const problemOutput = z.strictObject({
  field: z.string().optional(),
  value: z.string().optional(),
  message: z.string(),
  repaired: z.literal(true).optional(),
  choose: z.literal(true).optional(),
});

/** A list that is never too long for one answer. */
export const wholeList = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({ items: z.array(item), next_cursor: z.string().nullable().describe('`null`: nothing follows.') });

/** How many there are, in answers. A difference that came out below zero is shown rather than refused with the whole answer. */
export const count = z.int();
/** A number by which a thing is named. */
export const idNumber = z.int().min(1).max(1e15);

/** A failed attempt, with request and response. */
export const failureOutput = z.strictObject({
  at: time,
  operation: z.string(),
  kind: z.string(),
  problems: listIn(problemOutput),
  request: z.strictObject({ method: z.string(), url: z.string(), body: z.string().optional() }).nullable(),
  response: z.strictObject({ status: count, location: z.string().optional(), body: z.string() }).nullable(),
});

/** What a reviewer has set in a field, until the source changes that. */
const fieldEditOutput = z.strictObject({ field: z.string(), source_value: z.string().nullable(), value: z.string() });
export const fieldEdits = z.array(fieldEditOutput);
export const fieldEditsOf = (edits: readonly RowOf<z.output<typeof fieldEditOutput>>[]) =>
  edits.map((edit) => answerOf(fieldEditOutput, edit, {}));

// Reads members of an operation's input from texts, as addresses, forms and command lines carry them.

/** What the member is, without that it may be missing. */
function inner(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodOptional ? inner(schema.unwrap() as z.ZodType) : schema;
}

/** `true`: given several times. */
export const isList = (schema: z.ZodType): boolean => inner(schema) instanceof z.ZodArray;

/** The values that a member, or each of a list, may have; `undefined`: any. */
export function choicesOf(schema: z.ZodType): string[] | undefined {
  const one = isList(schema) ? elementOf(schema) : inner(schema);
  return one instanceof z.ZodEnum ? one.options.map(String) : undefined;
}

/** What a list is of. */
export const elementOf = (schema: z.ZodType): z.ZodType => (inner(schema) as z.ZodArray).element as z.ZodType;

/** `true`: without a value on the command line. */
export const isFlag = (schema: z.ZodType): boolean => inner(schema) instanceof z.ZodBoolean;

/** The members of an input by name; those of an input that has several forms are not known by name. */
export function membersOf(input: z.ZodType): Readonly<Record<string, z.ZodType>> {
  return input instanceof z.ZodObject ? (input.shape as Readonly<Record<string, z.ZodType>>) : {};
}

export const isOptional = (schema: z.ZodType): boolean => schema instanceof z.ZodOptional;

/** The same member, read from its text. */
export function fromText(schema: z.ZodType): z.ZodType {
  const read = textReader(inner(schema));
  const described = schema.description === undefined ? read : read.describe(schema.description);
  if (!isOptional(schema)) return described;
  const optional = described.optional();
  return schema.description === undefined ? optional : optional.describe(schema.description);
}

/** Values of a list that one text has, separated by commas. */
export function fromTexts(schema: z.ZodType): z.ZodType {
  const read = z
    .string()
    .max(500)
    .transform((text) => text.split(','))
    .pipe(inner(schema) as z.ZodType<unknown, string[]>)
    .describe(`${schema.description ?? ''} Several are separated by commas.`.trim());
  return isOptional(schema) ? read.optional().describe(read.description ?? '') : read;
}

function textReader(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodNumber)
    return z
      .string()
      .regex(/^[1-9]\d{0,14}$/, 'must be a whole number from 1 on')
      .transform(Number)
      .pipe(schema);
  if (schema instanceof z.ZodBoolean) return z.enum(['true', 'false']).transform((text) => text === 'true');
  return schema;
}

// What an edit of many entries sets: in requests, and in answers.

/** More different values than a person would replace. */
const MOST_VALUES = 10_000;

const map = z.strictObject({
  field: fieldName,
  values: z
    .record(text(10_000), text(200_000))
    .refine((values) => Object.keys(values).length <= MOST_VALUES, `must hold at most ${MOST_VALUES} values`)
    .describe('From the value that an entry has to its new one.'),
});

export const editInput = z
  .strictObject({ set: fieldsSchema.optional(), map: map.optional() })
  .refine(({ set, map: by }) => set !== undefined || by !== undefined, 'must hold set or map');

/** Members that were not sent. */
export const withoutAbsent = ({ set, map: by }: z.output<typeof editInput>): BulkEdit => ({
  ...(set === undefined ? {} : { set }),
  ...(by === undefined ? {} : { map: by }),
});

const fields = z.record(z.string(), z.string());

/** As it was stored. */
export const editOutput = z.strictObject({
  set: fields.optional(),
  map: z.strictObject({ field: z.string(), values: fields }).optional(),
});

/** Members of the problem that says why an edit was not made. */
export function whyNoEdit(edit: Refused['edit']): OperationRefused['now'] {
  if (edit === undefined) return {};
  if (edit.kind === 'feeds') return { feeds: edit.feeds };
  const { tried, ready, rejected, leftAlone, reasons, meant } = edit;
  return {
    may_insist: true,
    preview: { tried, ready, still_rejected: rejected, left_alone: leftAlone, reasons, meant },
  };
}

/** What is wrong with a value, as a predicate: the messages of our schemas are, those of the library are not. */
export function faultInWords(issue: z.core.$ZodIssue | undefined): string {
  if (issue === undefined) return 'is wrong';
  if (!/^(?:Invalid|Too|Unrecognized) /.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`;
    case 'invalid_type':
      return / received undefined$/.test(issue.message)
        ? 'is missing'
        : `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case 'too_small':
      return atMostOrLeast(issue.origin, `at least ${issue.minimum}`);
    case 'too_big':
      return atMostOrLeast(issue.origin, `at most ${issue.maximum}`);
    case 'invalid_union': {
      const { options = [] } = issue as { readonly options?: readonly unknown[] };
      return options.length === 0
        ? 'has none of the possible forms'
        : `must be one of ${options.map(String).join(', ')}`;
    }
    default:
      return 'is malformed';
  }
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

function atMostOrLeast(origin: string, bound: string): string {
  if (origin === 'string') return `must have ${bound} characters`;
  return origin === 'array' || origin === 'set' ? `must have ${bound} entries` : `must be ${bound}`;
}
