// Names and takes the advisory locks of the database, and ends the connections of a stalled process that holds one.
import { createHash } from 'node:crypto';
import type { FeedName } from '../../posting/identifiers.ts';
import type { LockTiming, Queryable } from '../postgres/database.ts';

/** Processes of older versions name these locks so: during an upgrade both must exclude each other. */
const PREFIXES: Readonly<Record<string, string>> = { write: 'hand' };

/** A 64-bit lock key from a purpose and a name, as decimal text. */
export function lockKey(
  purpose: 'pull' | 'details' | 'edit' | 'merge' | 'lead' | 'write' | 'alert' | 'rekey' | 'bulk' | 'file',
  name: string,
): string {
  return createHash('sha1')
    .update(`${PREFIXES[purpose] ?? purpose}:${name}`)
    .digest()
    .readBigInt64BE(0)
    .toString();
}

/** Held until the end of the transaction by whoever records outcomes for these feeds; a merging pull waits for it. */
export async function lockOutcomesShared(tx: Queryable, feeds: Iterable<string>): Promise<void> {
  const keys = [...new Set(feeds)].sort().map((feed) => lockKey('merge', feed));
  await tx.query('select pg_advisory_xact_lock_shared(k) from unnest($1::bigint[]) k', [keys]);
}

/** Held until the end of the transaction by a pull that merges its changes: no outcome of the feed is recorded meanwhile. */
export async function lockOutcomes(tx: Queryable, feed: FeedName): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1)', [lockKey('merge', feed)]);
}

/** A lock that a process holds until it releases it, dies or loses its connection. */
export interface HeldLock {
  /** Whether the connection that holds the lock is still open. */
  readonly held: () => boolean;
  release(): Promise<void>;
}

/** Advisory locks of one 64-bit key, as `pg_locks` shows them. */
const HOLDERS = `pg_locks l where l.locktype = 'advisory' and l.granted and l.objsubid = 1
  and l.database = (select oid from pg_database where datname = current_database())
  and ((l.classid::bigint << 32) | l.objid::bigint) = $1::bigint`;

/** Ends a holder of the lock `key` that has been silent for too long: its connection lives, but its process is stopped. */
export async function endStaleLockHolder(session: Queryable, key: string, { staleAfterMs }: LockTiming): Promise<void> {
  await session.query(
    `select pg_terminate_backend(a.pid) from pg_stat_activity a
     where a.pid in (select l.pid from ${HOLDERS})
       and a.state = 'idle' and a.state_change < clock_timestamp() - make_interval(secs => $2)`,
    [key, staleAfterMs / 1000],
  );
}

/**
 * Marks a connection, until its transaction ends, as a work connection of the holder of a feed's lock.
 * @param key the feed's key for this purpose, distinct from the lock itself.
 */
export async function markWorkConnection(session: Queryable, key: string): Promise<void> {
  await session.query('select pg_advisory_xact_lock_shared($1)', [key]);
}

/**
 * Ends the work connections of a previous holder of a feed's lock, even within a transaction or a COPY: it has lost the lock
 * that the caller now holds.
 */
export async function endWorkConnections(session: Queryable, key: string): Promise<void> {
  await session.query(`select pg_terminate_backend(l.pid) from ${HOLDERS}`, [key]);
}

/** Sends heartbeats on a lock's connection, which shows that its process is not stopped. Returns the stop function. */
export function keepAlive(session: Queryable, { keepAliveEveryMs }: LockTiming): () => void {
  const timer = setInterval(() => session.query('select 1').catch(() => undefined), keepAliveEveryMs);
  timer.unref();
  return () => clearInterval(timer);
}
