// Brings one posting up to date for somebody who asks for it, on a page or through the API.
import type { FeedName, PostingKey } from '../posting/identifiers.ts';
import { auditAction } from '../store/access/audit.ts';
import { ProblemError } from './problem.ts';
import type { PullAsker } from './start-pull.ts';

/**
 * Pulls the feed, as a feed is read as a whole. Its changes are sent at once.
 * @returns the number of the pull; `null`: it begins after the one that runs
 * @throws {ProblemError} if this process can't pull the feed
 */
export async function syncPostingFor(
  { app, control, actor }: PullAsker,
  feed: FeedName,
  key: PostingKey,
): Promise<number | null> {
  const start = await control.pullSoon(feed);
  if (start.kind === 'unusable') throw new ProblemError({ status: 409, detail: start.message });
  const pull = start.kind === 'started' ? start.pull : null;
  await auditAction(app.db, { actor, action: 'sync', feed, key, detail: { pull } });
  return pull;
}
