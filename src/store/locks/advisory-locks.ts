// Names and takes the advisory locks of the database, and ends the connections of a stalled process that holds one; corrects
// the locks of queue jobs.
import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { FeedName } from '../../posting/identifiers.ts';
import type { Database, LentSession, LockTiming, Queryable } from '../postgres/database.ts';

/** Processes of older versions name these locks so: during an upgrade both must exclude each other. */
const PREFIXES: Readonly<Record<string, string>> = { write: 'hand' };

/** A 64-bit lock key from a purpose and a name, as decimal text. */
export function lockKey(
  purpose:
    | 'pull'
    | 'details'
    | 'edit'
    | 'merge'
    | 'lead'
    | 'write'
    | 'alert'
    | 'rekey'
    | 'bulk'
    | 'file'
    | 'upload'
    | 'reload'
    | 'parts',
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

// One connection for the locks of all feeds that a process pulls, as a thousand pulls may wait for their sources.

/** A use of the connection, which is given back with the last one. */
export interface LockConnection extends Queryable {
  /** Aborts with the reason when the connection is lost: others may then hold its locks. */
  readonly lost: AbortSignal;
  leave(): void;
}

interface Holder {
  readonly session: LentSession;
  readonly stopKeepAlive: () => void;
  readonly lost: AbortSignal;
}

/** A connection that is open or opening, and how many users hold, request or release locks on it. */
interface Shared {
  readonly opening: Promise<Holder>;
  users: number;
}

/** Returns a function that opens the connection, or shares the open one. */
export function lockConnectionOf(db: Database): () => Promise<LockConnection> {
  let current: Shared | undefined;

  async function open(forget: () => void): Promise<Holder> {
    const losing = new AbortController();
    // Each pull adds a listener.
    setMaxListeners(0, losing.signal);
    const session = await db.lend((error) => {
      forget();
      losing.abort(error);
    });
    const stopKeepAlive = keepAlive(session, db.lockTiming);
    losing.signal.addEventListener('abort', stopKeepAlive, { once: true });
    return { session, stopKeepAlive, lost: losing.signal };
  }

  function share(): Shared {
    if (current !== undefined) return current;
    const forget = () => {
      if (current === shared) current = undefined;
    };
    const shared: Shared = { opening: open(forget), users: 0 };
    shared.opening.catch(forget);
    current = shared;
    return shared;
  }

  function leave(shared: Shared, holder: Holder): void {
    shared.users--;
    if (shared.users > 0) return;
    if (current === shared) current = undefined;
    holder.stopKeepAlive();
    holder.session.giveBack();
  }

  return async () => {
    const shared = share();
    // Counted before it is open, so that a concurrent release does not give it back.
    shared.users++;
    const holder = await shared.opening;
    return { query: holder.session.query, lost: holder.lost, leave: () => leave(shared, holder) };
  };
}

// The lock of an action on many entries that asks sites: one process at a time carries it out, so that no job is asked for twice.

export interface BulkLock extends HeldLock {
  /** Aborts with the reason when the lock's connection is lost: another process may then carry out the action. */
  readonly lost: AbortSignal;
}

interface BulkLocker {
  readonly connect: ReturnType<typeof lockConnectionOf>;
  /** A connection can take its own lock twice, so this set separates holders within the process. */
  readonly taken: Set<number>;
}

const lockers = new WeakMap<Database, BulkLocker>();

function lockerOf(db: Database): BulkLocker {
  const locker = lockers.get(db) ?? { connect: lockConnectionOf(db), taken: new Set() };
  lockers.set(db, locker);
  return locker;
}

/** `undefined`: another process has it. Ends a stale holder, so that one of the next tries succeeds. */
export async function tryLockBulk(db: Database, id: number): Promise<BulkLock | undefined> {
  const { connect, taken } = lockerOf(db);
  if (taken.has(id)) return undefined;
  taken.add(id);
  const key = lockKey('bulk', String(id));
  let connection: Awaited<ReturnType<typeof connect>> | undefined;
  let got = false;
  try {
    connection = await connect();
    const [row] = await connection.query<{ got: boolean }>('select pg_try_advisory_lock($1) as got', [key]);
    got = row?.got === true;
    if (!got) await endStaleLockHolder(connection, key, db.lockTiming);
  } finally {
    if (!got) {
      taken.delete(id);
      connection?.leave();
    }
  }
  const holding = connection;
  if (!got) return undefined;
  return {
    held: () => !holding.lost.aborted,
    lost: holding.lost,
    async release() {
      await holding.query('select pg_advisory_unlock($1)', [key]).catch(() => undefined);
      taken.delete(id);
      holding.leave();
    },
  };
}

// The locks of queue jobs that BullMQ keeps in the schema `queue` of this database: which of them a false clock left.

/** `$1` the queue, `$2` how long its locks last, `$3` how much longer one of a right clock may seem to last; both in ms. */
const END_FALSE_TIMES = `with server as materialized (select (extract(epoch from clock_timestamp()) * 1000)::bigint as now),
  checked as (
    delete from queue.meta
     where queue = $1 and field = 'stalled-check' and value::bigint > (select now + $3::bigint from server)
  ),
  falsely_locked as (
    select id from queue.job
     where queue = $1 and state = 'active' and locked_until_ms > (select now + $2::bigint + $3::bigint from server)
    for update skip locked
  )
  update queue.job set locked_until_ms = (select now + $2::bigint from server)
   where queue = $1 and id in (select id from falsely_locked)`;

/**
 * Corrects what was locked, or put off, while the server's clock was ahead; it would stay so for as long as that. A live worker renews its
 * locks, which gives them the right time; those of a dead one now end a lock's time later. Both tables have no such row unless the
 * server's clock was set back.
 */
export async function endFalseQueueTimes(
  db: Queryable,
  queueName: string,
  lockMs: number,
  mostAheadMs: number,
): Promise<void> {
  await db.query(END_FALSE_TIMES, [queueName, lockMs, mostAheadMs]);
}
