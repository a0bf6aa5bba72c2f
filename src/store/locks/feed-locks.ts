// The locks of a feed: one pull at a time, and nobody edits or plans its postings while a pull plans them.
import { setTimeout as delay } from 'node:timers/promises';
import type { FeedName } from '../../posting/identifiers.ts';
import type { Database } from '../postgres/database.ts';
import {
  endStaleLockHolder,
  endWorkConnections,
  type HeldLock,
  type LockConnection,
  lockConnectionOf,
  lockKey,
} from './advisory-locks.ts';

/** The lock of one feed: its planning lock (`pull`), and while its details are requested, `details` in its place. */
export interface FeedLock extends HeldLock {
  /** Aborts with the reason when the lock's connection is lost: another process may then hold the lock. */
  readonly lost: AbortSignal;
  /**
   * Lets people edit and plan the feed's postings, for as long as the holder requests details; further pulls, renames and
   * imports stay out. The holder must not plan until {@link closeToEdits} has resolved.
   */
  openToEdits(): Promise<void>;
  /** Waits until nobody edits or plans, and keeps them out again. Throws the reason of the signal. */
  closeToEdits(signal: AbortSignal): Promise<void>;
}

interface Locker {
  lockFeed(feed: FeedName): Promise<FeedLock | undefined>;
  lockPlanning(feed: FeedName, signal: AbortSignal): Promise<HeldLock | undefined>;
}

const lockers = new WeakMap<Database, Locker>();

/**
 * Tries to take the lock that is needed to pull a feed, rename it or import its mappings; `undefined` if somebody holds it
 * for longer than an edit does. Ends a stale holder, so that one of the next tries succeeds. After success, ends connections
 * of the previous holder.
 */
export const lockFeed = (db: Database, feed: FeedName): Promise<FeedLock | undefined> =>
  sharedLocker(db).lockFeed(feed);

/**
 * Takes the lock that is needed to plan a feed, even while a pull that holds the feed requests details. `undefined` if it is
 * not free for some seconds.
 */
export const lockPlanning = (db: Database, feed: FeedName, signal: AbortSignal): Promise<HeldLock | undefined> =>
  sharedLocker(db).lockPlanning(feed, signal);

function sharedLocker(db: Database): Locker {
  const locker = lockers.get(db) ?? createLocker(db);
  lockers.set(db, locker);
  return locker;
}

/** A person's edit holds the lock for one short transaction after the other, with longer pauses than this between them. */
const ASK_AGAIN_AFTER_EDIT_MS = 20;
const WAIT_FOR_EDITS_MS = 5_000;
/** As long as an edit waits for a pull. */
const PLANNING_WAIT_MS = 10_000;
const RETRY_MS = 100;

/**
 * Tries to take the planning lock (`pull`), and tells whether somebody edits (`edit`), whether no other pull has the feed while
 * its details are requested (`details`), and whether no transaction of a previous holder is open (`write`).
 */
const TRY = `select edited, got, case when got then pg_try_advisory_xact_lock($2) end as alone,
    case when got then pg_try_advisory_xact_lock($3) end as free
  from (select not pg_try_advisory_xact_lock($4) as edited, pg_try_advisory_lock($1) as got) tried`;

type Tried =
  | { readonly kind: 'held'; readonly alone: boolean }
  /** Not taken: `edited`: a person is editing a posting; `taken`: somebody else holds it. */
  | { readonly kind: 'edited' | 'taken' };

const retryAfter = ({ kind }: Tried, signal?: AbortSignal): Promise<void> =>
  delay(kind === 'edited' ? ASK_AGAIN_AFTER_EDIT_MS : RETRY_MS, undefined, { signal }).catch(() => undefined);

function createLocker(db: Database): Locker {
  // A connection can take its own lock twice, so these sets separate holders within the process.
  const taken = new Set<FeedName>();
  const planned = new Set<FeedName>();
  const connect = lockConnectionOf(db);

  /** Takes the planning lock, if nobody holds it. */
  async function tryPlanning(connection: LockConnection, feed: FeedName): Promise<Tried> {
    if (planned.has(feed)) return { kind: 'taken' };
    planned.add(feed);
    try {
      const [row] = await connection.query<{ edited: boolean; got: boolean; alone: boolean; free: boolean }>(TRY, [
        lockKey('pull', feed),
        lockKey('details', feed),
        lockKey('write', feed),
        lockKey('edit', feed),
      ]);
      if (row?.got !== true) {
        planned.delete(feed);
        if (row?.edited === true) return { kind: 'edited' };
        await endStaleLockHolder(connection, lockKey('pull', feed), db.lockTiming);
        return { kind: 'taken' };
      }
      if (!row.free) await endWorkConnections(connection, lockKey('write', feed));
      return { kind: 'held', alone: row.alone };
    } catch (error) {
      // The lock may have been taken; nobody must keep it.
      await releasePlanning(connection, feed);
      throw error;
    }
  }

  async function releasePlanning(connection: LockConnection, feed: FeedName): Promise<void> {
    await connection.query('select pg_advisory_unlock($1)', [lockKey('pull', feed)]).catch(() => undefined);
    planned.delete(feed);
  }

  async function takeFeed(connection: LockConnection, feed: FeedName): Promise<FeedLock | undefined> {
    const until = performance.now() + WAIT_FOR_EDITS_MS;
    let tried = await tryPlanning(connection, feed);
    while (tried.kind === 'edited' && performance.now() <= until) {
      await retryAfter(tried);
      tried = await tryPlanning(connection, feed);
    }
    if (tried.kind !== 'held') return undefined;
    if (!tried.alone) {
      await releasePlanning(connection, feed);
      await endStaleLockHolder(connection, lockKey('details', feed), db.lockTiming);
      return undefined;
    }
    let isPlanning = true;
    let hasDetails = false;
    return {
      held: () => !connection.lost.aborted,
      lost: connection.lost,
      async openToEdits() {
        if (!hasDetails) await connection.query('select pg_advisory_lock($1)', [lockKey('details', feed)]);
        hasDetails = true;
        await releasePlanning(connection, feed);
        isPlanning = false;
      },
      async closeToEdits(signal) {
        for (;;) {
          signal.throwIfAborted();
          connection.lost.throwIfAborted();
          const tried = await tryPlanning(connection, feed);
          if (tried.kind === 'held') break;
          await retryAfter(tried, signal);
        }
        isPlanning = true;
      },
      async release() {
        if (isPlanning) await releasePlanning(connection, feed);
        if (hasDetails) {
          await connection.query('select pg_advisory_unlock($1)', [lockKey('details', feed)]).catch(() => undefined);
        }
        taken.delete(feed);
        connection.leave();
      },
    };
  }

  return {
    async lockFeed(feed) {
      if (taken.has(feed)) return undefined;
      taken.add(feed);
      let connection: LockConnection | undefined;
      let lock: FeedLock | undefined;
      try {
        connection = await connect();
        lock = await takeFeed(connection, feed);
        return lock;
      } finally {
        if (lock === undefined) {
          taken.delete(feed);
          connection?.leave();
        }
      }
    },
    async lockPlanning(feed, signal) {
      const connection = await connect();
      let isHeld = false;
      try {
        const until = performance.now() + PLANNING_WAIT_MS;
        for (;;) {
          signal.throwIfAborted();
          const tried = await tryPlanning(connection, feed);
          isHeld = tried.kind === 'held';
          if (isHeld || performance.now() > until) break;
          await retryAfter(tried, signal);
        }
      } finally {
        if (!isHeld) connection.leave();
      }
      if (!isHeld) return undefined;
      return {
        held: () => !connection.lost.aborted,
        async release() {
          await releasePlanning(connection, feed);
          connection.leave();
        },
      };
    },
  };
}
