// Holds the pull lock of a feed on a connection of its own, as another process does that pulls the feed.
import type { FeedName } from '../../src/posting/identifiers.ts';
import { keepAlive, lockKey } from '../../src/store/locks/advisory-locks.ts';
import type { Database } from '../../src/store/postgres/database.ts';

/** Resolves, once the lock is taken, to the function that releases it. */
export async function holdPullLock(db: Database, feed: FeedName): Promise<() => Promise<void>> {
  const session = await db.session();
  await session.query('select pg_advisory_lock($1)', [lockKey('pull', feed)]);
  const stopKeepAlive = keepAlive(session, db.lockTiming);
  return () => {
    stopKeepAlive();
    return session.end();
  };
}
