// Pulls with their counts so far.
import { z } from 'zod';
import { countedPullJson } from '../review/read-model/pull.ts';
import { countedPull, countedPulls } from '../store/pull/pull-history.ts';
import { concludeAbandonedPulls } from '../store/status/pull-summary.ts';
import { listOperation, namedFeed, OperationRefused, operation } from './operation.ts';
import { actionOutput, count, idNumber, nameText, time } from './scalars.ts';

/** Without what was sent for it. */
export const uncountedPullOutput = z
  .strictObject({
    pull: count,
    feed: z.string(),
    undoes: count.nullable().describe('The pull that this one undid; `null`: it read the feed.'),
    status: z.enum(['running', 'mirrored', 'not_modified', 'incomplete', 'failed', 'pending', 'review']),
    complete: z.boolean(),
    started_at: time,
    finished_at: time.nullable(),
    seen: count,
    unchanged: count,
    duplicates: count,
    unreadable: count,
    skipped: count,
    expired: count,
    gone: count,
    grace: count,
    discarded: count,
    bytes: count,
    duration_ms: count.nullable(),
    weak: z.string().nullable().describe('Why the completeness of the feed is proven only weakly; `null`: it is not.'),
    shortfalls: z.array(z.string()).describe('Why the feed is not proven complete.'),
    message: z.string().nullable(),
    actions: z.array(actionOutput),
  })
  .meta({ title: 'Pull' });

export const pullOutput = uncountedPullOutput
  .extend({ created: count, updated: count, deleted: count, requests: count })
  .meta({ title: 'Pull' });

export const showPulls = listOperation({
  id: 'listPulls',
  path: '/pulls',
  summary: 'Pulls with their counts so far, the newest first',
  scope: 'read',
  input: z.strictObject({ feed: nameText.optional().describe('Only of this feed.') }),
  item: pullOutput,
  place: z.strictObject({ before: idNumber }),
  async run({ feed: name }, { limit, after }, { app }) {
    const feed = name === undefined ? undefined : await namedFeed(app, name);
    await concludeAbandonedPulls(app.db, feed);
    const pulls = await countedPulls(app.db, feed, limit, after?.before);
    return pulls.map((pull) => countedPullJson(pull, app.writeAction));
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
    return countedPullJson(pull, app.writeAction);
  },
});
