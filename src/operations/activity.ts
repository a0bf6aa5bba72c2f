// Who did what, when, and what was before and after.
import { z } from 'zod';
import { excerpt } from '../posting/xml-characters.ts';
import { type Activity, listActivity } from '../store/access/audit.ts';
import { listOperation, namedFeed } from './operation.ts';
import { count, feedNameText, idNumber, text, time } from './scalars.ts';

const LONGEST_NAME = 200;

export const activityOutput = z
  .strictObject({
    activity: count.describe('Its number: a later one is larger.'),
    at: time,
    actor: z.string().describe('A user, a token, or who ran a command.'),
    action: z.string(),
    feed: z.string().nullable(),
    key: z.string().nullable(),
    edits: z
      .array(
        z.strictObject({
          field: z.string(),
          before: z.string().nullable().describe('`null`: there was none, or it is not known.'),
          before_known: z.boolean().describe('`false`: an earlier version of jobmirror did not record it.'),
          after: z.string().nullable(),
        }),
      )
      .describe('Fields that were edited, or whose edits were undone; the first 500 characters of each value.'),
    detail: z.record(z.string(), z.unknown()).describe('What else is recorded, such as a reason.'),
  })
  .meta({ title: 'Activity' });

export const showActivity = listOperation({
  id: 'showActivity',
  path: '/activity',
  summary: 'Who did what, when, and what was before and after: the newest first',
  scope: 'read',
  input: z.strictObject({
    feed: feedNameText.optional(),
    actor: text(LONGEST_NAME)
      .min(1, 'must not be empty')
      .optional()
      .describe('Only what this user or token did, as answers name it.'),
  }),
  item: activityOutput,
  place: z.strictObject({ before: idNumber }),
  async run({ feed: name, actor }, { limit, after }, { app }) {
    const feed = name === undefined ? undefined : await namedFeed(app, name);
    return (await listActivity(app.db, { feed, actor, before: after?.before }, limit)).map(activityJson);
  },
  placeOf: ({ activity }) => ({ before: activity }),
});

type Recorded = Readonly<Record<string, unknown>>;

/** A field that was edited, or whose edit was undone. */
interface RecordedEdit {
  readonly field: string;
  /** `undefined`: not recorded, as by earlier versions. `null`: the field was not there. */
  readonly before: string | null | undefined;
  readonly after: string | null;
}

interface RecordedDetail {
  readonly edits: readonly RecordedEdit[];
  /** What else is recorded, by its name. */
  readonly facts: Recorded;
}

function readDetail(detail: Recorded | null): RecordedDetail {
  const { edits, former, ...others } = detail ?? {};
  const undone = Array.isArray(edits) ? edits.filter((edit) => isUndone(edit, others.fields)) : [];
  const facts = Object.entries(others).filter(
    ([name, value]) => value !== null && value !== '' && !(undone.length > 0 && name === 'fields'),
  );
  return {
    edits: [
      ...Object.entries(isRecord(edits) ? edits : {}).map(([field, edit]) => readEdit(field, edit, former)),
      ...undone.map(({ field, value, sourceValue }) => ({ field, before: value, after: sourceValue })),
    ],
    facts: Object.fromEntries(facts),
  };
}

/** Whole descriptions before and after would make a list of many megabytes. */
const LONGEST_VALUE = 500;

function activityJson({ id, at, actor, action, feed, key, detail }: Activity) {
  const { edits, facts } = readDetail(detail);
  const shown = edits.map(({ field, before, after }) => ({
    field,
    before: cut(before ?? null),
    before_known: before !== undefined,
    after: cut(after),
  }));
  const others = Object.entries(facts).map(([name, value]) => [name, cutFact(value)]);
  return { activity: id, at, actor, action, feed, key, edits: shown, detail: Object.fromEntries(others) };
}

const cut = (value: string | null): string | null =>
  value !== null && value.length > LONGEST_VALUE ? excerpt(value, LONGEST_VALUE) : value;

/** A structure that is too long becomes the beginning of its text. */
function cutFact(value: unknown): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > LONGEST_VALUE ? excerpt(text, LONGEST_VALUE) : value;
}

/** Earlier versions recorded the new value only, or both values with the field. */
function readEdit(field: string, edit: unknown, former: unknown): RecordedEdit {
  if (isRecord(edit)) {
    const before = edit.before === undefined ? edit.from : edit.before;
    return { field, before: textOf(before), after: textOf(edit.after ?? edit.to ?? edit.value) ?? null };
  }
  const before = isRecord(former) && Object.hasOwn(former, field) ? textOf(former[field]) : undefined;
  return { field, before, after: textOf(edit) ?? null };
}

interface UndoneEdit {
  readonly field: string;
  readonly value: string;
  readonly sourceValue: string | null;
}

const isUndone = (edit: unknown, fields: unknown): edit is UndoneEdit =>
  isRecord(edit) && typeof edit.field === 'string' && Array.isArray(fields) && fields.includes(edit.field);

const isRecord = (value: unknown): value is Recorded =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const textOf = (value: unknown): string | null | undefined =>
  value === undefined || value === null || typeof value === 'string' ? value : JSON.stringify(value);
