// Review entries: listed, grouped and shown, with what can be done about them.
import { z } from 'zod';
import { isOfFoundJob, messageOfReason } from '../plan/desired-change.ts';
import { tell } from '../plan/message.ts';
import { offersFor, type SelectionOffers } from '../review/bulk/selection-offers.ts';
import { previewBulk } from '../review/bulk/start-bulk.ts';
import { actionsOfEntry } from '../review/entry-facts.ts';
import { needsAnotherAlert } from '../review/health/alert-conditions.ts';
import { readConfiguredHere } from '../review/health/configured-policy.ts';
import { type ListedGroup, listGroups, TRENDS } from '../review/list-groups.ts';
import { sumOf, tokenOf, tokenOfEntry, tokenOfOne } from '../review/seen.ts';
import { ENTRY_KINDS } from '../store/backlog/open-counts.ts';
import { SELECTED_ACTIONS } from '../store/review/bulk-actions.ts';
import type { EntryQuery } from '../store/review/found-entries.ts';
import type { ReviewEntry } from '../store/review/review-entries.ts';
import { type EntryDetails, readEntry } from '../store/review/review-entries.ts';
import { reviewPage } from '../store/review/review-page.ts';
import { foldReviewCounts } from '../store/review/review-totals.ts';
import {
  listOperation,
  namedFeed,
  namedSite,
  type OperationContext,
  OperationRefused,
  operation,
} from './operation.ts';
import { noteJson, noteOutput, ruleJson, ruleOutput } from './rules.ts';
import {
  actionOutput,
  answerOf,
  count,
  failureOutput,
  feedNameOutput,
  feedNameText,
  fieldEdits,
  fieldEditsOf,
  groupSchema,
  idNumber,
  listIn,
  problemOutput,
  spanMs,
  spanText,
  text,
  time,
} from './scalars.ts';

/** What selects entries. */
export const filterMembers = {
  feed: feedNameText.optional().describe('Only of this feed.'),
  site: text(200).optional().describe('Only of this site.'),
  group: groupSchema.optional().describe('The entries of one group.'),
  q: text(200)
    .optional()
    .describe('Beginnings of words of a key, title, value or message, in any case: all of them must be there.'),
  older_than: spanText.optional().describe('They have waited for at least so long: `30min`, `12h`, `3d`.'),
  newer_than: spanText.optional().describe('They have waited for less.'),
};
const kinds = z.array(z.enum(ENTRY_KINDS)).min(1).max(ENTRY_KINDS.length);
const kind = kinds.optional().describe(`One or more of ${ENTRY_KINDS.join(', ')}.`);
const discarded = z.boolean().optional().describe('`true`: discarded entries instead of waiting ones.');
export const listedInput = z.strictObject({ ...filterMembers, kind, discarded });

/** As part of a body. */
export const filterSchema = z.strictObject({
  ...filterMembers,
  kinds: kinds.optional(),
  ids: z.array(idNumber).min(1).max(10_000).optional().describe('Only entries with these numbers.'),
});

type Filter = z.output<typeof listedInput> & Omit<z.output<typeof filterSchema>, keyof typeof filterMembers>;

/** @throws {OperationRefused} if there is no such feed or site */
export async function entryQuery(app: OperationContext['app'], filter: Partial<Filter>): Promise<EntryQuery> {
  const { feed, site, group, q, older_than, newer_than } = filter;
  return {
    feed: feed === undefined ? undefined : await namedFeed(app, feed),
    site: site === undefined ? undefined : namedSite(app.config, site).name,
    groups: group === undefined ? undefined : [group],
    text: q || undefined,
    kinds: filter.kinds ?? filter.kind,
    ids: filter.ids,
    olderThanMs: older_than === undefined ? undefined : spanMs(older_than),
    newerThanMs: newer_than === undefined ? undefined : spanMs(newer_than),
    discarded: filter.discarded === true,
  };
}

const BINDS = 'Send it along with a decision: once anything of it has changed, nothing is done.';
const problems = listIn(problemOutput).describe('Every problem.');
const fields = z.record(z.string(), z.string());
const keyOrNone = z.string().nullable().describe('Key of the posting, or `null`.');
const changes = z.enum(['create', 'update', 'delete']);

export const listedEntryOutput = z
  .strictObject({
    id: count.describe('Its number.'),
    feed: feedNameOutput.describe('Name of the feed.'),
    site: z.string().nullable().describe('Name of the site, or `null`.'),
    key: keyOrNone,
    kind: z.enum(ENTRY_KINDS),
    operation: changes.nullable().describe('`null` for records.'),
    since: time.describe('Since when it waits.'),
    age_seconds: count.describe('For how long.'),
    escalated: z.boolean().describe('It has waited for too long.'),
    reason: z.string().describe('Why, in one sentence.'),
    discarded: z.literal(true).optional().describe('Of a discarded entry; absent otherwise.'),
    seen: z.string().describe(BINDS),
  })
  .meta({ title: 'ListedEntry' });

/** The place in the list of entries at which a page ended. */
export const entryPlace = z.strictObject({
  kind: z.enum(ENTRY_KINDS),
  since: z
    .int()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER)
    .describe('In microseconds, which dates of the driver do not have.'),
  id: z.int().min(0).max(1e15),
});

export const listReview = listOperation({
  id: 'listReview',
  path: '/review',
  summary: 'What needs a person: doubts first, held deletes last, within a kind the oldest first',
  scope: 'read',
  input: listedInput,
  item: listedEntryOutput,
  place: entryPlace,
  async readPage(input, { limit, after }, { app }) {
    await foldReviewCounts(app.db);
    const { entries, next } = await reviewPage(app.db, await entryQuery(app, input), limit, after);
    return { items: entries.map((entry) => listedEntryJson(entry, input.discarded === true, app)), next };
  },
});

function listedEntryJson(entry: ReviewEntry, isDiscarded: boolean, { config, writeAction }: OperationContext['app']) {
  return answerOf(listedEntryOutput, entry, {
    age_seconds: Math.floor(entry.ageMs / 1000),
    escalated: !isDiscarded && needsAnotherAlert(entry, config),
    reason: tell(entry.reason, writeAction),
    ...(isDiscarded ? { discarded: true as const } : {}),
    seen: tokenOfOne(entry),
  });
}

const RECORD = 'The beginning of the record, as the feed has it, that the open change was read from; `null`: not kept.';
const ofChange = 'of a change';
const ofRecord = 'of a record';

export const entryOutput = z
  .strictObject({
    id: count.describe('Its number.'),
    seen: z.string().describe(BINDS),
    version: z.string().describe('The same as `seen`.'),
    feed: feedNameOutput.describe('Name of the feed.'),
    site: z.string().optional().describe(`Name of the site, ${ofChange}.`),
    key: keyOrNone,
    kind: z.enum([...ENTRY_KINDS, 'ready', 'sending', 'discarded']),
    discarded_from: z.enum(['rejected', 'failed', 'held']).optional().describe('Its former kind, if it was discarded.'),
    discarded: z.boolean().optional().describe(`A person has discarded it, ${ofRecord}.`),
    operation: changes.optional().describe(`What is to be sent, ${ofChange}.`),
    since: time.describe('Since when it waits.'),
    age_seconds: count.describe('For how long.'),
    escalated: z.boolean().optional().describe(`It has waited for too long, ${ofChange}.`),
    reason: z.string().nullable().optional().describe('Why, or `null`.'),
    problems,
    note: z.string().nullable().optional().describe('What else is known of the reason, or `null`.'),
    attempts: count.optional().describe('How often it was sent.'),
    sent_operation: changes.nullable().optional().describe('What was sent last, or `null`.'),
    sent_at: time.nullable().optional().describe('When it was sent last, or `null`.'),
    sent_fields: fields.nullable().optional().describe('The fields that were sent, or `null`.'),
    desired_fields: fields.nullable().optional().describe('The fields that the site should have, or `null`.'),
    site_job_id: z.string().nullable().optional().describe('The job of the posting, or `null`.'),
    site_job_url: z.string().nullable().optional().describe('Address of the job, or `null`.'),
    site_job_since: time.nullable().optional().describe('Since when the posting has this job, or `null`.'),
    site_fields: fields.nullable().optional().describe('The fields that the site last accepted, or `null`.'),
    edits: fieldEdits.optional().describe('Edits by reviewers.'),
    record: z.string().nullable().optional().describe(RECORD),
    failures: listIn(failureOutput).optional().describe('Failed attempts with request and response.'),
    excerpt: z.string().optional().describe(`Its beginning, ${ofRecord}.`),
    record_number: count.nullable().optional().describe(`Its number in the feed, or \`null\`, ${ofRecord}.`),
    first_pull: count.optional().describe(`The pull that first saw it, ${ofRecord}.`),
    records: count.optional().describe(`How many there are like it, ${ofRecord}.`),
    actions: z.array(actionOutput).describe('What can be done about it.'),
  })
  .meta({ title: 'Entry' });

/** @throws {OperationRefused} if it is resolved, or never existed */
export async function requireEntry(db: OperationContext['app']['db'], id: number): Promise<EntryDetails> {
  const entry = await readEntry(db, id);
  if (entry === undefined)
    throw new OperationRefused('unknown', `there is no open review entry ${id}: it is resolved, or never existed`);
  return entry;
}

export const showEntry = operation({
  id: 'showEntry',
  path: '/review/{id}',
  summary: 'One entry with its details, and what can be done about it',
  scope: 'read',
  input: z.strictObject({ id: idNumber }),
  output: entryOutput,
  run: async ({ id }, { app }) => entryJson(await requireEntry(app.db, id), app),
});

export async function entryJson(
  entry: EntryDetails,
  app: OperationContext['app'],
): Promise<z.output<typeof entryOutput>> {
  const seen = tokenOfEntry(entry);
  const actions = actionsOfEntry(entry, await readConfiguredHere(app.db, app.config));
  if (entry.kind === 'change') return changeJson(entry, { seen, version: seen, actions }, app);
  const { record } = entry;
  return answerOf(entryOutput, record, {
    seen,
    version: seen,
    actions,
    age_seconds: Math.floor(record.ageMs / 1000),
    record_number: record.recordNumber ?? null,
  });
}

function changeJson(
  { change, live, edits, record, failures }: Extract<EntryDetails, { kind: 'change' }>,
  common: Pick<z.output<typeof entryOutput>, 'seen' | 'version' | 'actions'>,
  { config, writeAction }: OperationContext['app'],
) {
  const sent = isOfFoundJob(change.reason) ? undefined : change.attempt;
  return answerOf(
    entryOutput,
    { ...change, failures },
    {
      ...common,
      kind: change.state,
      age_seconds: Math.floor(change.ageMs / 1000),
      escalated: needsAnotherAlert({ ...change, kind: change.state }, config),
      reason: change.reason === undefined ? null : tell(messageOfReason(change.reason), writeAction),
      problems: change.reason?.problems ?? [],
      note: change.reason?.note ?? null,
      sent_operation: sent?.operation ?? null,
      sent_at: sent?.startedAt ?? null,
      sent_fields: sent?.fields ?? null,
      desired_fields: change.fields ?? null,
      site_job_id: live?.siteJobId ?? null,
      site_job_url: live?.url ?? null,
      site_job_since: live?.since ?? null,
      site_fields: live?.fields ?? null,
      edits: fieldEditsOf(edits),
      record: record ?? null,
    },
  );
}

export const groupOutput = z
  .strictObject({
    group: z.string().describe('Its ID, which never changes.'),
    kind: z.enum(ENTRY_KINDS).describe('Kind of its entries. Held deletes of different feeds are different groups.'),
    field: z.string().nullable().describe('Field that the message is about, or `null`.'),
    message: z.string().describe('Message of its entries; `…` stands for what differs.'),
    count: count.describe('How many selected entries it has.'),
    first_seen: time.describe('When it appeared.'),
    last_seen: time.describe('Since when its newest entry waits.'),
    trend: z.enum(TRENDS).describe('Its size against that of a day ago; `back`: it had no entries for a while.'),
    values: z.array(z.strictObject({ value: z.string(), count })).describe('The most frequent values.'),
    value_count: count.describe('How many different values there are.'),
    feeds: z.array(z.strictObject({ feed: feedNameOutput, count })).describe('Feeds of its entries.'),
    sites: z.array(z.strictObject({ site: z.string(), count })).describe('Sites of its entries.'),
    example: z
      .strictObject({
        id: count,
        feed: feedNameOutput,
        key: z.string().nullable(),
        value: z.string().nullable(),
        reason: z.string(),
      })
      .describe('Its oldest entry.'),
    notes: z.array(noteOutput).describe('Notes of reviewers.'),
    rules: z.array(ruleOutput).describe('Rules in force for its new entries.'),
  })
  .meta({ title: 'Group' });

const SHOWN_VALUES = 10;

export const listReviewGroups = listOperation({
  id: 'listReviewGroups',
  path: '/review/groups',
  summary: 'What needs a person, grouped by kind, field and message: the largest group first',
  scope: 'read',
  input: listedInput,
  item: groupOutput,
  place: z.strictObject({ count: z.int().min(0).max(1e15), id: groupSchema }),
  async run(input, { limit, after }, { app }) {
    const limits = { groups: Number.isFinite(limit) ? limit : undefined, values: SHOWN_VALUES, after };
    const groups = await listGroups(app.db, await entryQuery(app, input), limits);
    return groups.map((group) => groupJson(group, app));
  },
  placeOf: ({ count: size, group }) => ({ count: size, id: group }),
});

function groupJson(group: ListedGroup, { writeAction }: Pick<OperationContext['app'], 'writeAction'>) {
  const { id, values, example } = group;
  return answerOf(groupOutput, group, {
    group: id,
    values: values.map(({ of, count: n }) => ({ value: of, count: n })),
    feeds: group.feeds.map(({ of, count: n }) => ({ feed: of, count: n })),
    sites: group.sites.map(({ of, count: n }) => ({ site: of, count: n })),
    example: {
      id: example.id,
      feed: example.feed,
      key: example.key ?? null,
      value: example.value ?? null,
      reason: tell(example.reason, writeAction),
    },
    notes: group.notes.map(noteJson),
    rules: group.rules.map(ruleJson),
  });
}

const leftAlone = z.strictObject({ message: z.string(), count });
const offer = z.strictObject({
  action: z.enum(SELECTED_ACTIONS),
  count: count.describe('How many entries it would act on.'),
  seen: z.string().nullable().describe(`${BINDS} \`null\`: there are none, or too many to be compared one by one.`),
  left_alone: z.array(leftAlone).describe('Entries of the right kind that it would leave as they are, and why.'),
  by_feed: z
    .array(
      z.strictObject({
        feed: feedNameOutput,
        count,
        seen: z.string().nullable().describe('As above.'),
      }),
    )
    .describe('The same for each feed: an edit is of one feed, unless all are meant.'),
});

export const shownGroupOutput = groupOutput
  .extend({
    waiting: count.describe('How many entries of the group wait.'),
    discarded: count.describe('How many entries of the group are discarded.'),
    in_question: z
      .array(feedNameOutput)
      .describe('Feeds of which has to be answered first whether their keys have changed.'),
    offers: z
      .array(offer)
      .describe('What can be done about all of its waiting entries; if none waits, about the discarded.'),
  })
  .meta({ title: 'ShownGroup' });

/** Of a group that is looked at more values are shown than of one in a list. */
const MOST_VALUES = 10_000;

export const showReviewGroup = operation({
  id: 'showReviewGroup',
  path: '/review/groups/{group}',
  summary: 'One group with all its values, and what can be done about all of its entries',
  scope: 'read',
  input: z.strictObject({ group: groupSchema.describe('See: review groups.') }),
  output: shownGroupOutput,
  async run({ group: id }, { app }) {
    const limits = { groups: 1, values: MOST_VALUES };
    const [waiting] = await listGroups(app.db, { groups: [id] }, limits);
    const [kept] = await listGroups(app.db, { groups: [id], discarded: true }, limits);
    const group = waiting ?? kept;
    if (group === undefined) throw new OperationRefused('unknown', `there is no entry in group ${id}`);
    const offers = await offersFor(app, { groups: [id], discarded: waiting === undefined });
    const waits = waiting?.count ?? 0;
    return { ...groupJson(group, app), waiting: waits, discarded: kept?.count ?? 0, ...offersJson(offers) };
  },
});

const offersJson = ({ of, inQuestion }: SelectionOffers) => ({
  in_question: [...inQuestion],
  offers: SELECTED_ACTIONS.flatMap((action) => {
    const { count: n, seen, barred, byFeed } = of[action];
    if (n === 0 && barred.length === 0) return [];
    const left_alone = barred.map(({ why, entries }) => ({ message: why, count: sumOf(entries) }));
    const by_feed = byFeed.map((each) => ({ feed: each.feed, count: each.count, seen: each.seen ?? null }));
    return { action, count: n, seen: seen ?? null, left_alone, by_feed };
  }),
});

export const previewActionOnReview = operation({
  id: 'previewActionOnReview',
  path: '/review/selection',
  summary: 'What an action on many entries would act on now: of the selected ones, those of a kind that it is for',
  scope: 'read',
  input: z.strictObject({ ...filterMembers, kind, action: z.enum(SELECTED_ACTIONS) }),
  output: z
    .strictObject({
      count,
      seen: z.string().describe(BINDS),
      mark: z.string().describe('The same as `seen`.'),
      answer_first: z
        .string()
        .nullable()
        .describe('Why nothing can be decided about them before a question about changed keys is answered, and how.'),
      left_alone: count.describe('How many entries are selected as well, but not acted on.'),
      reasons: z.array(leftAlone).describe('Why.'),
    })
    .meta({ title: 'Selection' }),
  async run({ action, ...filter }, { app }) {
    const { selected, others, first } = await previewBulk(app.db, app.config, action, await entryQuery(app, filter));
    const seen = tokenOf(selected);
    return {
      count: sumOf(selected),
      seen,
      mark: seen,
      answer_first: first === undefined ? null : tell(first, app.writeAction),
      left_alone: sumOf(others.flatMap(({ entries }) => entries)),
      reasons: others.map(({ why, entries }) => ({ message: why, count: sumOf(entries) })),
    };
  },
});
