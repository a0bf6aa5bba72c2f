// Holds the locks of all feeds that this process pulls on one connection, as a thousand pulls may wait for their sources.
import { setMaxListeners } from 'node:events';
import type { FeedName } from '../../posting/identifiers.ts';
import type { Database, LentSession, Queryable, Row } from '../postgres/database.ts';
import { type HeldLock, lockKey } from './advisory-locks.ts';
import { endStaleLockHolder, endWorkConnections, keepAlive } from './stale-lock-holder.ts';

/** The pull lock of one feed. */
export interface FeedLock extends HeldLock {
  /** Aborts with the reason when the lock's connection is lost: another process may then hold the lock. */
  readonly lost: AbortSignal;
}

const lockers = new WeakMap<Database, ReturnType<typeof lockerOf>>();

/**
 * Tries to take the lock that is needed to pull a feed, rename it or import its mappings; `undefined` if somebody holds it.
 * Ends a stale holder, so that one of the next tries succeeds. After success, ends connections of the previous holder.
 */
export function lockFeed(db: Database, feed: FeedName): Promise<FeedLock | undefined> {
  const locker = lockers.get(db) ?? lockerOf(db);
  lockers.set(db, locker);
  return locker(feed);
}

/** One connection with the locks taken on it. */
interface Holder {
  readonly session: LentSession;
  readonly stopKeepAlive: () => void;
  readonly lost: AbortSignal;
}

/** Serialises queries: many pulls ask at once, and the connection takes one statement at a time. */
function oneByOne(session: Queryable): Queryable['query'] {
  let last: Promise<unknown> = Promise.resolve();
  return <R extends Row>(text: string, values?: readonly unknown[]): Promise<R[]> => {
    const asked = last.then(() => session.query<R>(text, values));
    last = asked.catch(() => undefined);
    return asked;
  };
}

/** A connection that is open or opening, and how many users hold, request or release locks on it. */
interface Shared {
  readonly opening: Promise<Holder>;
  users: number;
}

function lockerOf(db: Database): (feed: FeedName) => Promise<FeedLock | undefined> {
  // A connection can take its own lock twice, so this set separates pulls of one feed within the process.
  const taken = new Set<FeedName>();
  let current: Shared | undefined;

  async function open(forget: () => void): Promise<Holder> {
    const losing = new AbortController();
    // Each pull adds a listener.
    setMaxListeners(0, losing.signal);
    const lent = await db.lend((error) => {
      forget();
      losing.abort(error);
    });
    const session = { ...lent, query: oneByOne(lent) };
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

  async function take(feed: FeedName): Promise<FeedLock | undefined> {
    const shared = share();
    // Counted before it is open, so that a concurrent release does not give it back.
    shared.users++;
    const holder = await shared.opening;
    const { session } = holder;
    try {
      const [row] = await session.query<{ got: boolean; free: boolean }>(
        'select pg_try_advisory_lock($1) as got, pg_try_advisory_xact_lock($2) as free',
        [lockKey('pull', feed), lockKey('hand', feed)],
      );
      if (row?.got !== true) {
        await endStaleLockHolder(session, lockKey('pull', feed), db.lockTiming);
        leave(shared, holder);
        return undefined;
      }
      if (!row.free) await endWorkConnections(session, lockKey('hand', feed));
    } catch (error) {
      // The lock may have been taken; nobody must keep it.
      await session.query('select pg_advisory_unlock($1)', [lockKey('pull', feed)]).catch(() => undefined);
      leave(shared, holder);
      throw error;
    }
    return {
      held: () => !holder.lost.aborted,
      lost: holder.lost,
      async release() {
        await session.query('select pg_advisory_unlock($1)', [lockKey('pull', feed)]).catch(() => undefined);
        taken.delete(feed);
        leave(shared, holder);
      },
    };
  }

  return async (feed) => {
    if (taken.has(feed)) return undefined;
    taken.add(feed);
    try {
      const lock = await take(feed);
      if (lock === undefined) taken.delete(feed);
      return lock;
    } catch (error) {
      taken.delete(feed);
      throw error;
    }
  };
}
