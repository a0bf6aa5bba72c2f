// Takes the lock of a feed that a pull or another run may hold for a moment longer than it shows.
import { vi } from 'vitest';
import type { FeedName } from '../../src/posting/identifiers.ts';
import { type FeedLock, lockFeed } from '../../src/store/locks/feed-locks.ts';
import type { Database } from '../../src/store/postgres/database.ts';

/** What a run did is visible before it releases the lock. */
export const lockWhenFree = (db: Database, feed: FeedName): Promise<FeedLock> =>
  vi.waitFor(async () => {
    const held = await lockFeed(db, feed);
    if (held === undefined) throw new Error(`the lock of feed ${feed} is still held`);
    return held;
  }, 60_000);
