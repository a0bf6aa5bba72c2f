// Names and takes the advisory locks of the database: one pull per feed, one dispatcher per site, live workers.
import { createHash } from 'node:crypto';
import type { FeedName } from '../../posting/identifiers.ts';
import type { Database, Queryable, Session } from '../postgres/database.ts';
import type { LockTiming } from './lock-timing.ts';
import { endStaleLockHolder, keepAlive } from './stale-lock-holder.ts';

/** A 64-bit lock key from a purpose and a name, as decimal text. */
export function lockKey(purpose: 'pull' | 'merge' | 'lead' | 'hand', name: string): string {
  return createHash('sha1').update(`${purpose}:${name}`).digest().readBigInt64BE(0).toString();
}

/** Held until the end of the transaction by whoever records outcomes for these feeds; a merging pull waits for it. */
export async function shareFeeds(tx: Queryable, feeds: Iterable<string>): Promise<void> {
  const keys = [...new Set(feeds)].sort().map((feed) => lockKey('merge', feed));
  await tx.query('select pg_advisory_xact_lock_shared(k) from unnest($1::bigint[]) k', [keys]);
}

/** Held until the end of the transaction by a pull that merges its changes: no outcome of the feed is recorded meanwhile. */
export async function seizeFeed(tx: Queryable, feed: FeedName): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1)', [lockKey('merge', feed)]);
}

/** A lock that a process holds until it releases it, dies or loses its connection. */
export interface HeldLock {
  /** Whether the connection that holds the lock is still open. */
  readonly held: () => boolean;
  release(): Promise<void>;
}

/**
 * Tries to take a session-level lock on a dedicated connection; `undefined` if another process holds it. Ends a stale holder,
 * so that one of the next tries succeeds.
 */
export async function tryLock(database: Database, key: string): Promise<HeldLock | undefined> {
  let lost = false;
  const session: Session = await database.session(() => {
    lost = true;
  });
  try {
    const [row] = await session.query<{ got: boolean }>('select pg_try_advisory_lock($1) as got', [key]);
    if (row?.got === true) return heldBy(session, database.lockTiming, () => !lost);
    await endStaleLockHolder(session, key, database.lockTiming);
  } catch (error) {
    await session.end().catch(() => undefined);
    throw error;
  }
  await session.end();
  return undefined;
}

function heldBy(session: Session, timing: LockTiming, held: () => boolean): HeldLock {
  const stopKeepAlive = keepAlive(session, timing);
  return {
    held,
    async release() {
      stopKeepAlive();
      await session.end().catch(() => undefined);
    },
  };
}
