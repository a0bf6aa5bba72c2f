// What people decide about review entries: about one, about many, about creates in doubt, and what they set in a posting.
import { z } from 'zod';
import { BULK_ACTIONS } from '../plan/action.ts';
import { mayBeRule, needsSeen, summaryOf } from '../plan/allowed.ts';
import { actionsOf, type Message, tell } from '../plan/message.ts';
import { postingKey } from '../posting/identifiers.ts';
import { actOnEntries, type NamedQuery } from '../review/act-on-entries.ts';
import { type BulkStart, startBulk } from '../review/bulk/start-bulk.ts';
import { findPosting } from '../review/describe-history.ts';
import { type EditReport, editEntry, editedMessage, editPosting } from '../review/edit-posting.ts';
import { configuredPolicy, readConfiguredHere } from '../review/health/configured-policy.ts';
import { resolveEntry } from '../review/resolve-entry.ts';
import { type Seen, type SeenNames, seenOf } from '../review/seen.ts';
import type { ActedEntry } from '../store/change/act-in-review.ts';
import { SELECTED_ACTIONS, type SelectedAction } from '../store/review/bulk-actions.ts';
import { readEntry } from '../store/review/review-entries.ts';
import { openSiteOfEntry } from './adoption.ts';
import { bulkAction, bulkOutput } from './bulk-actions.ts';
import { namedFeed, type OperationContext, OperationRefused, operation } from './operation.ts';
import { postingOf, postingOutput, unknownPosting, whyNotSent } from './postings.ts';
import { entryJson, entryOutput, entryQuery, filterSchema, requireEntry } from './review.ts';
import {
  actionOutput,
  count,
  editInput,
  feedNameOutput,
  feedNameText,
  fieldsSchema,
  idNumber,
  keyOutput,
  keyText,
  siteJobIdText,
  text,
  whyNoEdit,
  withoutAbsent,
} from './scalars.ts';

type App = OperationContext['app'];

export const actedOutput = z
  .strictObject({
    action: z.string().describe('What was to be done.'),
    entry: count.describe('Number of the entry.'),
    feed: feedNameOutput.describe('Name of the feed.'),
    key: keyOutput.nullable().describe('Key of the posting, or `null`.'),
    result: z.enum(['done', 'not_applicable']).describe('`done`, or why not.'),
    message: z.string().describe('The same in words.'),
    still_rejected: z
      .literal(true)
      .optional()
      .describe('It was edited, and still breaks rules of the site; absent otherwise.'),
    actions: z.array(actionOutput).describe('What can be done next.'),
    now: z.string().nullable().describe('What became of it since, as it was sent; `null`: that was not awaited.'),
    detail: z.string().nullable().describe('The same in words, or `null`.'),
  })
  .meta({ title: 'Acted' });
type Acted = z.output<typeof actedOutput>;

const actedJson = (
  action: string,
  { message, ...acted }: Pick<Acted, 'entry' | 'feed' | 'key' | 'result'> & { readonly message: Message },
  { writeAction }: App,
): Acted => ({
  action,
  ...acted,
  message: tell(message, writeAction),
  actions: actionsOf(message),
  now: null,
  detail: null,
});

const token = text(100).optional();
/** What binds a decision about one entry or posting. */
const seenMembers = {
  seen: token.describe('The `seen` of what was shown: once anything of it has changed, nothing is done.'),
  version: token.describe('A former name of `seen`.'),
};
const MISSING = 'is missing: send what was shown';
const hasSeen = ({ seen, version, mark }: SeenNames): boolean =>
  [seen, version, mark].some((each) => each !== undefined);

const anyway = z
  .boolean()
  .optional()
  .describe('Set the fields even if rules of the site would still be broken; otherwise nothing is done then.');

/** Decisions about one entry that need nothing more. */
export const entryDecisions = BULK_ACTIONS.map((action) => {
  const members = z.strictObject({ id: idNumber, reason: text(1_000).trim().optional(), ...seenMembers });
  return operation({
    id: `${action}Entry`,
    path: `/review/{id}/${action}`,
    summary: summaryOf(action).one,
    scope: 'review',
    // What can't be undone is decided only on what was seen: the next delete that is held may have the same number.
    input: needsSeen(action) ? members.refine(hasSeen, { path: ['seen'], error: MISSING }) : members,
    output: actedOutput,
    async run({ id, reason, ...bound }, { app, actor, control }) {
      await requireEntry(app.db, id);
      const options = { actor, reason: reason || undefined, seen: seenOf(bound) };
      const report = await actOnEntries(app.db, app.config, action, [{ ids: [id] }], options);
      if (report.kind === 'refused') throw await refusal(id, report, app, bound);
      const [entry] = report.entries;
      if (entry === undefined) throw new OperationRefused('unknown', `there is no open review entry ${id}`);
      if (entry.result === 'not_applicable') throw await refusal(id, entry, app, {});
      control.wake();
      return actedJson(action, entry, app);
    },
  });
});

/** With the entry as it is now, and for a stale one also what was asked for. */
async function refusal(
  id: number,
  { message, stale }: { readonly message: Message; readonly stale?: true | undefined },
  app: App,
  yours: object,
  more: object = {},
): Promise<OperationRefused> {
  const entry = await readEntry(app.db, id);
  const current = entry === undefined ? null : z.encode(entryOutput, await entryJson(entry, app));
  const seen = current?.seen ?? null;
  const now = stale === true ? { yours, seen, version: seen, current } : { current };
  return new OperationRefused('conflict', message, { ...now, ...more }, { subject: `entry ${id}` });
}

const edited = (report: Extract<EditReport, { kind: 'edited' }>, app: App): Acted => {
  const { entry, feed, key, remaining } = report;
  const acted = actedJson('edit', { entry, feed, key, result: 'done', message: editedMessage(remaining) }, app);
  return remaining === undefined ? acted : { ...acted, still_rejected: true };
};

export const editReviewEntry = operation({
  id: 'editEntry',
  path: '/review/{id}/edit',
  summary: 'Set fields of a rejected or failed posting, until the source changes them, and send it',
  scope: 'review',
  input: z.strictObject({
    id: idNumber,
    fields: fieldsSchema.describe('An empty text removes the field.'),
    anyway,
    ...seenMembers,
  }),
  output: actedOutput,
  async run({ id, fields, anyway: insists, ...bound }, { app, actor, control }) {
    await requireEntry(app.db, id);
    const options = { actor, seen: seenOf(bound), onlyIfValid: insists !== true };
    const report = await editEntry(app.db, app.config, id, fields, options);
    if (report.kind === 'invalid') throw invalidEdit(report, `entry ${id}`, true);
    if (report.kind === 'refused') throw await refusal(id, report, app, { fields, ...bound });
    if (report.remaining === undefined) control.wake();
    return edited(report, app);
  },
});

/** @param mayInsist it can be saved as it is */
function invalidEdit(
  { message, problems }: Extract<EditReport, { kind: 'invalid' }>,
  subject: string,
  mayInsist: boolean,
): OperationRefused {
  const told = problems.map(({ field, message: said }) => ({ field: field ?? null, message: said }));
  const may = mayInsist ? { may_insist: true } : {};
  return new OperationRefused('invalid', message, { problems: told, ...may }, { subject });
}

export const setPostingFields = operation({
  id: 'editPosting',
  path: '/feeds/{feed}/postings/{key}/edit',
  summary:
    'Set fields of a posting, until the source changes them, and send it: also of one that the site has accepted, or that waits to be sent',
  scope: 'review',
  input: z.strictObject({
    feed: feedNameText,
    key: keyText.describe('Percent-encoded: `A%2F1` for `A/1`.'),
    fields: fieldsSchema.describe('An empty text removes the field.'),
    only_valid: z
      .boolean()
      .optional()
      .describe('Set nothing if the posting would still break rules of the site: as without `anyway`.'),
    anyway: anyway.describe('Set the fields of a rejected posting even if it would still break rules of the site.'),
    ...seenMembers,
  }),
  output: actedOutput,
  async run({ feed: name, key: written, fields, only_valid, anyway: insists, ...bound }, { app, actor, control }) {
    const feed = await namedFeed(app, name);
    const key = postingKey(written.trim());
    const found = () => findPosting(app.db, feed, key);
    if ((await found()) === undefined) throw unknownPosting(feed, key);
    const options = { actor, seen: seenOf(bound), onlyIfValid: only_valid === true || insists !== true };
    const report = await editPosting(app.db, app.config, { feed, key }, fields, options);
    if (report.kind === 'edited') {
      if (report.remaining === undefined) control.wake();
      return edited(report, app);
    }
    const about = { subject: `posting ${key}` };
    const now = await found();
    if (report.kind === 'invalid') {
      const state = now?.story.change?.state;
      throw invalidEdit(report, about.subject, state === 'rejected' || state === 'failed');
    }
    const here = await readConfiguredHere(app.db, app.config);
    const current =
      now === undefined ? null : z.encode(postingOutput, postingOf(now, app, here, await whyNotSent(app, now.story)));
    const seen = current?.seen ?? null;
    const yours = { fields, ...bound };
    const more = report.stale === true ? { yours, seen, version: seen, current } : { current };
    throw new OperationRefused('conflict', report.message, more, about);
  },
});

const OF_EXISTS = 'is only for a job that exists';

export const settleEntry = operation({
  id: 'settleEntry',
  path: '/review/{id}/settle',
  summary: 'Resolve a create in doubt, after checking the site for its job',
  scope: 'review',
  input: z
    .strictObject({
      id: idNumber,
      verdict: z.enum(['exists', 'missing']).describe('Whether the site has made its job.'),
      site_job_id: siteJobIdText.optional().describe('The job, if it exists.'),
      anyway: z.boolean().optional().describe('Adopt the job even if it seems to belong to another posting.'),
      ...seenMembers,
    })
    .refine(hasSeen, { path: ['seen'], error: MISSING })
    .refine(({ verdict, site_job_id }) => verdict === 'missing' || site_job_id !== undefined, {
      path: ['site_job_id'],
      error: 'is missing',
    })
    .refine(({ verdict, site_job_id }) => verdict === 'exists' || site_job_id === undefined, {
      path: ['site_job_id'],
      error: OF_EXISTS,
    })
    .refine(({ verdict, anyway }) => verdict === 'exists' || anyway === undefined, {
      path: ['anyway'],
      error: OF_EXISTS,
    }),
  output: actedOutput,
  async run({ id, verdict, site_job_id, anyway, ...bound }, { app, actor, control }) {
    await requireEntry(app.db, id);
    const decided =
      site_job_id === undefined
        ? ({ kind: 'missing' } as const)
        : ({ kind: 'exists', siteJobId: site_job_id, anyway: anyway === true } as const);
    const site = await openSiteOfEntry(app, id);
    try {
      const options = { actor, site, policyOf: configuredPolicy(app.config), seen: seenOf(bound) };
      const report = await resolveEntry(app.db, id, decided, options);
      if (report.kind === 'refused') {
        const may = report.mayInsist === true ? { may_insist: true } : {};
        const yours = { verdict, site_job_id, anyway, ...bound };
        throw await refusal(id, report, app, yours, may);
      }
      control.wake();
      const { feed, key, warning } = report;
      const done = site_job_id === undefined ? 'to be sent again' : `job ${site_job_id} adopted`;
      const message = warning === undefined ? done : `${done}; ${warning}`;
      return actedJson('settle', { entry: id, feed, key, result: 'done', message }, app);
    } finally {
      await site?.client.close();
    }
  },
});

export const feedResult = z.strictObject({
  action: z.string().describe('What was done.'),
  feed: feedNameOutput.describe('Name of the feed.'),
  done: count.describe('How many entries of it are done.'),
  message: z.string().describe('The same in words.'),
  kinds: z.record(z.string(), count).optional().describe('Of a discard: how many entries of each kind.'),
  now: z
    .record(z.string(), count)
    .nullable()
    .describe(
      'What became of these entries since, as they were sent: counts by outcome; `null`: that was not awaited.',
    ),
});

/** By number or by the names of their feeds, at once and all of them or none; on the command line only. */
export const decideNamed = operation({
  id: 'decideNamedEntries',
  path: '/review/named',
  summary: 'Decide entries that are named by number, or all of a feed',
  scope: 'review',
  input: z.strictObject({
    action: z.enum(BULK_ACTIONS),
    queries: z.custom<readonly NamedQuery[]>(),
    reason: z.string().optional(),
    seen: z.custom<Seen>().optional(),
  }),
  output: z.strictObject({
    entries: z.array(actedOutput),
    feeds: z.array(feedResult),
    acted: z.custom<readonly ActedEntry[]>(),
  }),
  async run({ action, queries, reason, seen }, { app, actor, control }) {
    const report = await actOnEntries(app.db, app.config, action, queries, { actor, reason, seen });
    if (report.kind === 'refused') {
      const [{ ids: [id, other] = [] } = {}, more] = queries;
      const isOne = report.stale === true && id !== undefined && other === undefined && more === undefined;
      throw new OperationRefused('conflict', report.message, {}, isOne ? { subject: `entry ${id}` } : {});
    }
    control.wake();
    return {
      entries: report.entries.map((entry) => actedJson(action, entry, app)),
      feeds: report.feeds.map((feed) => ({ action, ...feed, now: null })),
      acted: report.acted,
    };
  },
});

const expected = z
  .int()
  .min(1)
  .optional()
  .describe(
    'How many entries you saw of the kinds that the action is for, the `count` of `GET /review/selection`: if it is another number now, nothing is done. With `ids`, how many these are.',
  );
const seenOfMany = z
  .union([text(100), z.array(text(100)).min(1).max(10_000)])
  .optional()
  .describe(
    'The `seen` of `GET /review/selection` or of a group, or of each entry of `ids`: with anything else, nothing is done.',
  );
const ABOUT: Readonly<Partial<Record<SelectedAction, string>>> = {
  missing:
    'The site has made the job of none of these creates in doubt: they are sent again. Those that a job on the site may belong to, or that its list still decides, are left alone.',
  check: 'The list of the site is read again for these creates in doubt.',
};

const actionInput = (action: SelectedAction) =>
  z
    .strictObject({
      action: z.literal(action).describe(ABOUT[action] ?? ''),
      filter: filterSchema.describe('What is acted on. Only entries that are as they were when the action started.'),
      expected,
      seen: seenOfMany,
      mark: token.describe('A former name of `seen`.'),
      ...(action === 'edit'
        ? {
            edit: editInput,
            anyway: anyway.describe(
              'Edit also if some of the entries would still be rejected; otherwise nothing is done then, and the problem has a `preview`.',
            ),
            all_feeds: z
              .boolean()
              .optional()
              .describe(
                'Edit the entries of all feeds; otherwise nothing is done if the filter selects entries of several, and the problem has their `feeds`.',
              ),
          }
        : {}),
      ...(action === 'discard' ? { reason: text(1_000).optional() } : {}),
      ...(mayBeRule(action)
        ? {
            also_new: z
              .boolean()
              .optional()
              .describe(
                'Also make a rule for new entries of the group, or of the group and the feed, that the filter names.',
              ),
          }
        : {}),
    })
    .refine((input) => hasSeen(input) || (!needsSeen(action) && input.expected !== undefined), {
      path: [needsSeen(action) ? 'seen' : 'expected'],
      error: MISSING,
    });

export interface ActInput extends Pick<SeenNames, 'seen' | 'mark'> {
  readonly action: SelectedAction;
  readonly filter: z.output<typeof filterSchema>;
  readonly expected?: number;
  readonly edit?: z.output<typeof editInput>;
  readonly anyway?: boolean;
  readonly all_feeds?: boolean;
  readonly reason?: string;
  readonly also_new?: boolean;
}

const [firstAction, ...otherActions] = SELECTED_ACTIONS;

export const actOnReview = operation({
  id: 'actOnReview',
  path: '/review/actions',
  summary: 'One decision for many entries, in batches',
  scope: 'review',
  input: z.discriminatedUnion('action', [
    actionInput(firstAction),
    ...otherActions.map(actionInput),
  ]) as unknown as z.ZodType<ActInput>,
  output: bulkOutput,
  locationOf: ({ bulk }) => `/review/actions/${bulk}`,
  async run(input, asked) {
    const { app, control } = asked;
    const start = await startAction(input, asked, true);
    control.bulk(start.bulk.id);
    return bulkAction(app, start.bulk.id);
  },
});

/**
 * Stores the action, for a command to carry it out.
 * @param unattended no command waits for it: whichever process runs `start` carries it out
 * @throws {OperationRefused}
 */
export async function startAction(
  { action, filter, edit, anyway: insists, all_feeds, reason, also_new: alsoNew, expected: n, ...bound }: ActInput,
  { app, actor }: Pick<OperationContext, 'app' | 'actor'>,
  unattended = false,
): Promise<Exclude<BulkStart, { kind: 'refused' }>> {
  const detail = {
    query: await entryQuery(app, filter),
    ...(unattended ? { unattended } : {}),
    ...(edit === undefined ? {} : { edit: withoutAbsent(edit) }),
    ...(reason === undefined ? {} : { reason }),
  };
  const checked = { onlyIfValid: insists !== true, onlyOneFeed: all_feeds !== true };
  const request = { action, actor, seen: seenOf({ ...bound, count: n }), alsoNew, detail, ...checked };
  const start = await startBulk(app.db, app.config, request);
  if (start.kind === 'refused')
    throw new OperationRefused(start.edit === undefined ? 'conflict' : 'invalid', start.message, whyNoEdit(start.edit));
  return start;
}
