// One connection for the locks of all feeds that a process pulls, as a thousand pulls may wait for their sources.
import { setMaxListeners } from 'node:events';
import type { Database, LentSession, Queryable } from '../postgres/database.ts';
import { keepAlive } from './advisory-locks.ts';

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
