// Who did what, when, and what was before and after.
import { z } from 'zod';
import { excerpt } from '../posting/markup.ts';
import {
  ACTION_KINDS,
  type Activity,
  listActivity,
  type RecordedAction,
  recordedActions,
} from '../store/access/audit.ts';
import { listOperation, namedFeed } from './operation.ts';
import { count, feedNameText, idNumber, text, time } from './scalars.ts';

const LONGEST_NAME = 200;
/** The moment of an action to the microsecond, and its place among those of the same moment. */
const PLACE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z [abepm]\d{1,18}$/;

const editsOutput = z
  .array(
    z.strictObject({
      field: z.string(),
      before: z.string().nullable().describe('`null`: there was none, or it is not known.'),
      before_known: z.boolean().describe('`false`: an earlier version of jobmirror did not record it.'),
      after: z.string().nullable(),
    }),
  )
  .describe('Fields that were edited, or whose edits were undone; the first 500 characters of each value.');

export const activityOutput = z
  .strictObject({
    activity: count.describe('Its number: a later one is larger.'),
    at: time,
    actor: z.string().describe('A user, a token, or who ran a command; `jobmirror`: nobody.'),
    action: z.string(),
    feed: z.string().nullable(),
    key: z.string().nullable(),
    edits: editsOutput,
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
    of: idNumber.optional().describe('Only what the action did that has this number as its `activity`.'),
  }),
  item: activityOutput,
  place: z.strictObject({ before: idNumber }),
  async run({ feed: name, actor, of }, { limit, after }, { app }) {
    const feed = name === undefined ? undefined : await namedFeed(app, name);
    return (await listActivity(app.db, { feed, actor, of, before: after?.before }, limit)).map(activityJson);
  },
  placeOf: ({ activity }) => ({ before: activity }),
});

const actionTakenOutput = z
  .strictObject({
    at: time,
    kind: z
      .enum(ACTION_KINDS)
      .describe(
        '`person`; `rule`: a rule that a person made; `pull`: one that deleted jobs; `alert`: a destination was told; `program`: jobmirror by itself, such as a pause that ended by its time and changed files that were taken over.',
      ),
    actor: z.string().nullable().describe('A user, a token, or who ran a command; `null`: nobody.'),
    action: z.string(),
    count: count.describe('How many postings or entries it reached.'),
    feed: z.string().nullable().describe('`null`: none, or several.'),
    key: z.string().nullable().describe('`null` unless it reached one posting.'),
    edits: editsOutput,
    detail: z.record(z.string(), z.unknown()).describe('What else is recorded, such as a reason.'),
    activity: count.nullable().describe('The newest number that it has in `GET /activity`, which lists each posting.'),
    bulk: count.nullable().describe('The number of an action on many entries.'),
    pull: count.nullable().describe('The pull that deleted.'),
    place: z.string().describe('Where it is in the list.'),
  })
  .meta({ title: 'ActionTaken' });

export type ActionTaken = z.output<typeof actionTakenOutput>;

/** What an action was about that concerns a site or everything, with what else is recorded; `undefined`: a feed, or nothing in particular. */
export function subjectInWords({ feed, detail }: Pick<ActionTaken, 'feed' | 'detail'>) {
  const { all, site, ...others } = detail;
  if (feed !== null || (all !== true && typeof site !== 'string')) return undefined;
  return { words: all === true ? 'everything' : `site ${site}`, others };
}

export const listActivities = listOperation({
  id: 'listActivities',
  path: '/activity/actions',
  summary:
    'What was done, one row per action however many postings it reached, also by rules, pulls, alerts and the program itself: the newest first',
  scope: 'read',
  input: showActivity.input.omit({ of: true }),
  item: actionTakenOutput,
  place: z.strictObject({ after: z.string().regex(PLACE) }),
  async run({ feed: name, actor }, { limit, after }, { app }) {
    const feed = name === undefined ? undefined : await namedFeed(app, name);
    const [moment = '', place = ''] = after?.after.split(' ') ?? [];
    const filter = { feed, actor, after: after === undefined ? undefined : { moment, place } };
    return (await recordedActions(app.db, filter, limit)).map(actionJson);
  },
  placeOf: ({ place }) => ({ after: place }),
});

const actionJson = ({ place, moment, detail, ...done }: RecordedAction) => ({
  ...done,
  ...shownDetail(detail),
  place: `${moment} ${place}`,
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

/** They tell entries apart. */
const UNSHOWN: readonly string[] = ['automatic', 'digest'];

function readDetail(detail: Recorded | null): RecordedDetail {
  const { edits, former, ...others } = detail ?? {};
  const undone = Array.isArray(edits) ? edits.filter((edit) => isUndone(edit, others.fields)) : [];
  const facts = Object.entries(others).filter(
    ([name, value]) =>
      value !== null && value !== '' && !UNSHOWN.includes(name) && !(undone.length > 0 && name === 'fields'),
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

const activityJson = ({ id, detail, ...done }: Activity) => ({ activity: id, ...done, ...shownDetail(detail) });

function shownDetail(detail: Activity['detail']) {
  const { edits, facts } = readDetail(detail);
  const shown = edits.map(({ field, before, after }) => ({
    field,
    before: cut(before ?? null),
    before_known: before !== undefined,
    after: cut(after),
  }));
  const others = Object.entries(facts).map(([name, value]) => [name, cutFact(value)]);
  return { edits: shown, detail: Object.fromEntries(others) };
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
