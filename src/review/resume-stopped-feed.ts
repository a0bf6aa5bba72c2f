// Lets a feed be pulled again that an undo has stopped, as a person decides.
import type { FeedName } from '../posting/identifiers.ts';
import { auditAction } from '../store/access/audit.ts';
import { resumeFeed } from '../store/feed/feed-state.ts';
import type { Database } from '../store/postgres/database.ts';

/**
 * Returns the undo that had stopped it; `undefined`: it was not stopped.
 * @param seen the undo that the person saw: if another one has stopped it, it stays so
 */
export async function resumeStoppedFeed(
  db: Database,
  feed: FeedName,
  actor: string,
  seen?: number,
): Promise<number | undefined> {
  return db.transaction(async (tx) => {
    const undo = await resumeFeed(tx, feed, seen);
    if (undo !== undefined) await auditAction(tx, { actor, action: 'resume feed', feed, detail: { undo } });
    return undo;
  });
}
