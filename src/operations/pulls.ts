// Pulls: started, and listed with their counts so far.
import { z } from 'zod';
import { actionsOf, noticeOf, type WriteAction } from '../plan/message.ts';
import { type PullReport, pullReportJson } from '../runtime/conclude-pull.ts';
import { auditAction } from '../store/access/audit.ts';
import type { PullRow, PullStatus } from '../store/pull/pull-history.ts';
import { type CountedPull, countedPull, countedPulls } from '../store/pull/pull-history.ts';
import { concludeAbandonedPulls } from '../store/status/pull-summary.ts';
import { listOperation, namedFeed, OperationRefused, operation } from './operation.ts';
import {
  actionOutput,
  answerOf,
  count,
  feedNameOutput,
  feedNameText,
  idNumber,
  keyOutput,
  noticeOutput,
  time,
} from './scalars.ts';

export const PULL_STATUSES = [
  'running',
  'mirrored',
  'not_modified',
  'incomplete',
  'failed',
  'pending',
  'review',
] as const satisfies readonly PullStatus[];

/** What `sync` prints of a pull, whose postings are all counted once. */
export const pullCounts = {
  complete: z.boolean().describe('The feed is proven complete; only then can postings count as gone.'),
  seen: count.describe(
    'Records in the feed; with a posting for each place (`places: each`), a record counts once for each place.',
  ),
  unchanged: count.describe('Postings that the site already has in this form.'),
  created: count.describe('New postings, created on the site.'),
  updated: count.describe('Changed postings, updated on the site.'),
  rejected: count.describe(
    'Postings that break a rule, checked by the site or by jobmirror; their live jobs stay as they are.',
  ),
  in_doubt: count.describe('Creates whose outcome is not known yet.'),
  pending: count.describe('Creates and updates that are not sent yet.'),
  failed: count.describe(
    'Creates and updates that were given up after the allowed attempts, or that the site forbids.',
  ),
  duplicates: count.describe('Further records with the same key.'),
  unreadable: count.describe('Records that cannot be read or have no key.'),
  skipped: count.describe(
    "Records that are no postings, by the feed's rule (`skip`), and those that are counted as `expired`.",
  ),
  expired: count.describe(
    'The skipped records of postings whose jobs have been on the site for as long as `expire_after_days` allows.',
  ),
  gone: count.describe('Live jobs whose posting is no longer in the feed.'),
  deleted: count.describe('Of the gone: deleted.'),
  pending_deletes: count.describe('Of the gone: not deleted yet.'),
  failed_deletes: count.describe('Of the gone: refused by the site, and in review.'),
  held: count.describe('Of the gone: waiting for approval.'),
  kept: count.describe('Of the gone: kept by a reviewer.'),
  grace: count.describe('Of the gone: not missing for long enough (`missing_pulls`).'),
  discarded: count.describe(
    'Of `rejected` and `unreadable`: discarded by a person, so the site differs from the feed.',
  ),
  requests: count.describe('Requests to the site.'),
  bytes: count.describe('Bytes read from the source, decompressed.'),
  weak: z.string().optional().describe('Why the completeness is proven only weakly; absent if it is not.'),
  review: count.describe('Review entries of the feed that are open, from this pull or earlier ones.'),
  repaired: count.describe('Postings whose records were not well-formed and were repaired (`lenient`).'),
  repaired_example: keyOutput.optional().describe('Key of one of them; absent if there is none.'),
  cleaned: count.describe(
    'Postings with characters that XML cannot carry, which are left out; `why` shows the characters.',
  ),
  cleaned_example: keyOutput.optional().describe('Key of one of them; absent if there is none.'),
};

/** One line of `sync --json`. */
export const pullReportOutput = z
  .strictObject({
    feed: feedNameOutput.describe('Name of the feed.'),
    pull: count.nullable().describe('Number of this pull; `null`: the pull could not begin.'),
    status: z.enum(PULL_STATUSES).exclude(['running']).describe('How the pull ended, see below.'),
    paused: z
      .literal(true)
      .optional()
      .describe(
        'A person has paused the feed, its site or everything, so that what is pending waits; absent otherwise.',
      ),
    ...pullCounts,
    duration_ms: count.describe('Total time, in milliseconds.'),
    shortfalls: z.array(z.string()).describe('Why the feed is not proven complete.'),
    warnings: z
      .array(z.string())
      .describe(
        'Likely mistakes of the mapping, such as paths that no record has. Only in the first pull that reads the feed with this mapping; `status` keeps showing them.',
      ),
    message: z
      .string()
      .optional()
      .describe(
        'What a person should know; absent if all went well. If no posting reached the site, it has the most frequent reason: “nothing was mirrored: all 31 postings were rejected: …”',
      ),
  })
  .describe('One object per feed, one per line:');

export function reportedPull(report: PullReport, write: WriteAction): z.input<typeof pullReportOutput> {
  const { shortfalls, warnings, ...rest } = pullReportJson(report, write);
  return z.encode(pullReportOutput, { ...rest, shortfalls: [...shortfalls], warnings: [...warnings] });
}

/** Without what was sent for it. */
export const uncountedPullOutput = z
  .strictObject({
    pull: count.describe('Its number.'),
    feed: feedNameOutput.describe('Name of the feed.'),
    undoes: count.nullable().describe('The pull that this one undid; `null`: it read the feed.'),
    status: z.enum(PULL_STATUSES),
    complete: pullCounts.complete,
    started_at: time,
    finished_at: time.nullable(),
    seen: pullCounts.seen,
    unchanged: pullCounts.unchanged,
    duplicates: pullCounts.duplicates,
    unreadable: pullCounts.unreadable,
    skipped: pullCounts.skipped,
    expired: pullCounts.expired,
    gone: pullCounts.gone,
    grace: pullCounts.grace,
    discarded: pullCounts.discarded,
    bytes: pullCounts.bytes,
    duration_ms: count.nullable().describe('Total time, in milliseconds.'),
    weak: z.string().nullable().describe('Why the completeness of the feed is proven only weakly; `null`: it is not.'),
    shortfalls: z.array(noticeOutput).describe('Why the feed is not proven complete.'),
    message: noticeOutput.nullable().describe('What a person should know.'),
    actions: z.array(actionOutput).describe('What can be done about it.'),
  })
  .meta({ title: 'Pull' });

const { created, updated, deleted, requests } = pullCounts;
const pullOutput = uncountedPullOutput.extend({ created, updated, deleted, requests }).meta({ title: 'Pull' });

export type ShownPull = z.output<typeof pullOutput>;

/** Uses the names of `sync --json` for the values that both have. */
export function pullOf(pull: PullRow, write: WriteAction): z.output<typeof uncountedPullOutput> {
  const { id, notes, shortfalls } = pull;
  return answerOf(uncountedPullOutput, pull, {
    pull: id,
    shortfalls: shortfalls.map((shortfall) => noticeOf(write, shortfall)),
    message: notes.length === 0 ? null : noticeOf(write, ...notes),
    actions: [...shortfalls, ...notes].flatMap(actionsOf),
  });
}

function countedPullOf(pull: CountedPull, write: WriteAction): ShownPull {
  return answerOf(pullOutput, pull, pullOf(pull, write));
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
      case 'paused':
      case 'unusable':
        throw new OperationRefused('conflict', start.message);
      default:
        return start satisfies never;
    }
  },
});
