// The lock of an action on many entries that asks sites: one process at a time carries it out, so that no job is asked for twice.
import type { Database } from '../postgres/database.ts';
import { endStaleLockHolder, type HeldLock, lockKey } from './advisory-locks.ts';
import { lockConnectionOf } from './lock-connection.ts';

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
