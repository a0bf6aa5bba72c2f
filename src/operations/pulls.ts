// Pulls: started, and listed with their counts so far.
import { z } from 'zod';
import { actionsOf, noticeOf, type WriteAction } from '../plan/message.ts';
import { auditAction } from '../store/access/audit.ts';
import { type CountedPull, countedPull, countedPulls } from '../store/pull/pull-history.ts';
import type { PullRow } from '../store/pull/pull-row.ts';
import { concludeAbandonedPulls } from '../store/status/pull-summary.ts';
import { listOperation, namedFeed, OperationRefused, operation } from './operation.ts';
import { actionOutput, count, feedNameOutput, feedNameText, idNumber, noticeOutput, time } from './scalars.ts';

/** Without what was sent for it. */
export const uncountedPullOutput = z
  .strictObject({
    pull: count.describe('Its number.'),
    feed: feedNameOutput.describe('Name of the feed.'),
    undoes: count.nullable().describe('The pull that this one undid; `null`: it read the feed.'),
    status: z.enum(['running', 'mirrored', 'not_modified', 'incomplete', 'failed', 'pending', 'review']),
    complete: z.boolean().describe('The feed is proven complete; only then can postings count as gone.'),
    started_at: time,
    finished_at: time.nullable(),
    seen: count.describe('Records in the feed.'),
    unchanged: count.describe('Postings that the site already has in this form.'),
    duplicates: count.describe('Further records with the same key.'),
    unreadable: count.describe('Records that cannot be read or have no key.'),
    skipped: count.describe('Records that are no postings by a rule of the feed, and those counted as expired.'),
    expired: count.describe(
      'The skipped records of postings whose jobs have been on the site for as many days as allowed.',
    ),
    gone: count.describe('Live jobs whose posting is no longer in the feed.'),
    grace: count.describe('Of the gone: not missing for long enough.'),
    discarded: count.describe('Entries that a person discarded, so the site differs from the feed.'),
    bytes: count.describe('Bytes read from the source, decompressed.'),
    duration_ms: count.nullable().describe('Total time, in milliseconds.'),
    weak: z.string().nullable().describe('Why the completeness of the feed is proven only weakly; `null`: it is not.'),
    shortfalls: z.array(noticeOutput).describe('Why the feed is not proven complete.'),
    message: noticeOutput.nullable().describe('What a person should know.'),
    actions: z.array(actionOutput).describe('What can be done about it.'),
  })
  .meta({ title: 'Pull' });

const pullOutput = uncountedPullOutput
  .extend({
    created: count.describe('New postings, created on the site.'),
    updated: count.describe('Changed postings, updated on the site.'),
    deleted: count.describe('Of the gone: deleted.'),
    requests: count.describe('Requests to the site.'),
  })
  .meta({ title: 'Pull' });

export type ShownPull = z.output<typeof pullOutput>;

/** Uses the names of `sync --json` for the values that both have. */
export function pullOf(pull: PullRow, write: WriteAction): z.output<typeof uncountedPullOutput> {
  const { notes, shortfalls } = pull;
  return {
    pull: pull.id,
    feed: pull.feed,
    undoes: pull.undoes ?? null,
    status: pull.status,
    complete: pull.complete,
    started_at: pull.startedAt,
    finished_at: pull.finishedAt ?? null,
    seen: pull.seen,
    unchanged: pull.unchanged,
    duplicates: pull.duplicates,
    unreadable: pull.unreadable,
    skipped: pull.skipped,
    expired: pull.expired,
    gone: pull.gone,
    grace: pull.grace,
    discarded: pull.discarded,
    bytes: pull.bytes,
    duration_ms: pull.durationMs ?? null,
    weak: pull.weak ?? null,
    shortfalls: shortfalls.map((shortfall) => noticeOf(write, shortfall)),
    message: notes.length === 0 ? null : noticeOf(write, ...notes),
    actions: [...shortfalls, ...notes].flatMap(actionsOf),
  };
}

function countedPullOf(pull: CountedPull, write: WriteAction): ShownPull {
  const { created, updated, deleted, requests } = pull;
  return { ...pullOf(pull, write), created, updated, deleted, requests };
}

export const showPulls = listOperation({
  id: 'listPulls',
  path: '/pulls',
  summary: 'Pulls with their counts so far, the newest first',
  scope: 'read',
  input: z.strictObject({ feed: feedNameText.optional().describe('Only of this feed.') }),
  item: pullOutput,
  place: z.strictObject({ before: idNumber }),
  async run({ feed: name }, { limit, after }, { app }) {
    const feed = name === undefined ? undefined : await namedFeed(app, name);
    await concludeAbandonedPulls(app.db, feed);
    const pulls = await countedPulls(app.db, feed, limit, after?.before);
    return pulls.map((pull) => countedPullOf(pull, app.writeAction));
  },
  placeOf: ({ pull }) => ({ before: pull }),
});

export const showPull = operation({
  id: 'showPull',
  path: '/pulls/{id}',
  summary: 'One pull with its counts so far',
  scope: 'read',
  input: z.strictObject({ id: idNumber }),
  output: pullOutput,
  async run({ id }, { app }) {
    await concludeAbandonedPulls(app.db);
    const pull = await countedPull(app.db, id);
    if (pull === undefined) throw new OperationRefused('unknown', `there is no pull ${id}`);
    return countedPullOf(pull, app.writeAction);
  },
});

export const startFeedPull = operation({
  id: 'startPull',
  path: '/feeds/{feed}/pulls',
  summary: 'Pull a feed now, and send what differs',
  scope: 'pull',
  input: z.strictObject({ feed: feedNameText }),
  output: z.strictObject({ pull: count, feed: feedNameOutput }).meta({ title: 'StartedPull' }),
  locationOf: ({ pull }) => `/pulls/${pull}`,
  async run({ feed: name }, { app, actor, control }) {
    const feed = await namedFeed(app, name);
    const start = await control.pull(feed);
    switch (start.kind) {
      case 'started':
        await auditAction(app.db, { actor, action: 'pull', feed, detail: { pull: start.pull } });
        return { pull: start.pull, feed };
      case 'busy': {
        const by = start.pull === undefined ? '' : `, by pull ${start.pull}`;
        const message = `feed ${feed} is being pulled right now${by}; try again when that has ended`;
        throw new OperationRefused('conflict', message, { pull: start.pull ?? null }, { retryAfterSeconds: 5 });
      }
      case 'unusable':
        throw new OperationRefused('conflict', start.message);
      default:
        return start satisfies never;
    }
  },
});
