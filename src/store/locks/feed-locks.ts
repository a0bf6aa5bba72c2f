// Holds the locks of all feeds that this process pulls on one connection: a thousand pulls may wait for their sources.
import { setMaxListeners } from 'node:events';
import type { FeedName } from '../../posting/identifiers.ts';
import type { Database, LentSession, Queryable, Row } from '../postgres/database.ts';
import { type HeldLock, lockKey } from './advisory-locks.ts';
import { endHands, endStaleLockHolder, keepSpeaking } from './stale-lock-holder.ts';

/** The lock of one feed's pulls. */
export interface FeedLock extends HeldLock {
  /** Aborts when the connection that holds the lock is no more, with the reason: somebody else may have the lock. */
  readonly lost: AbortSignal;
}

const lockers = new WeakMap<Database, ReturnType<typeof lockerOf>>();

/**
 * Tries to take the lock without which nobody pulls a feed, renames it or imports its mappings; `undefined`: somebody has
 * it. Somebody who stands still loses it, so that one of the next tries succeeds; what he worked by is ended.
 */
export function lockFeed(db: Database, feed: FeedName): Promise<FeedLock | undefined> {
  const locker = lockers.get(db) ?? lockerOf(db);
  lockers.set(db, locker);
  return locker(feed);
}

/** One connection with the locks that were taken on it. */
interface Holder {
  readonly session: LentSession;
  readonly stopSpeaking: () => void;
  readonly lost: AbortSignal;
}

/** Many pulls ask at once, and the connection takes one statement at a time. */
function oneByOne(session: Queryable): Queryable['query'] {
  let last: Promise<unknown> = Promise.resolve();
  return <R extends Row>(text: string, values?: readonly unknown[]): Promise<R[]> => {
    const asked = last.then(() => session.query<R>(text, values));
    last = asked.catch(() => undefined);
    return asked;
  };
}

/** A connection that is open or being opened, and how many hold its locks, try for them, or give them back. */
interface Shared {
  readonly opening: Promise<Holder>;
  users: number;
}

function lockerOf(db: Database): (feed: FeedName) => Promise<FeedLock | undefined> {
  // A connection can take its own lock twice: within the process this is what keeps pulls of one feed apart.
  const taken = new Set<FeedName>();
  let current: Shared | undefined;

  async function open(forget: () => void): Promise<Holder> {
    const losing = new AbortController();
    // Each pull listens to it.
    setMaxListeners(0, losing.signal);
    const lent = await db.lend((error) => {
      forget();
      losing.abort(error);
    });
    const session = { ...lent, query: oneByOne(lent) };
    const stopSpeaking = keepSpeaking(session);
    losing.signal.addEventListener('abort', stopSpeaking, { once: true });
    return { session, stopSpeaking, lost: losing.signal };
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
    holder.stopSpeaking();
    holder.session.giveBack();
  }

  async function take(feed: FeedName): Promise<FeedLock | undefined> {
    const shared = share();
    // Counted before it is open: whoever leaves meanwhile must not give it back.
    shared.users++;
    const holder = await shared.opening;
    const { session } = holder;
    try {
      const [row] = await session.query<{ got: boolean; free: boolean }>(
        'select pg_try_advisory_lock($1) as got, pg_try_advisory_xact_lock($2) as free',
        [lockKey('pull', feed), lockKey('hand', feed)],
      );
      if (row?.got !== true) {
        await endStaleLockHolder(session, lockKey('pull', feed));
        leave(shared, holder);
        return undefined;
      }
      if (!row.free) await endHands(session, lockKey('hand', feed));
    } catch (error) {
      // Whatever was taken, nobody may go on holding it.
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
