// Marks a sending process as alive by a lock on its own connection.
import type { Database, Session } from '../postgres/database.ts';
import { LEASE, LIVE_WORKERS } from './live-workers.ts';
import { noteProcess, type ProcessAbout } from './processes.ts';
import { keepAlive } from './stale-lock-holder.ts';

/** A live worker's number, and the lock that proves it alive. */
export interface WorkerLease {
  readonly worker: number;
  /** By the database clock. */
  readonly startedAt: Date;
  leave(): Promise<void>;
}

/**
 * Takes a number and holds its lock until the process leaves or dies; reconnects when the connection is lost. Meanwhile
 * its attempts may be taken for a dead worker's: creates become doubts, which its reports still resolve.
 * @param about shown to other processes while this one lives.
 */
export async function enterAsWorker(
  db: Database,
  about: ProcessAbout,
  onTrouble: (error: Error) => void,
): Promise<WorkerLease> {
  const [row] = await db.query<{ n: number }>(`select nextval('worker_number') as n`);
  const worker = row?.n ?? 0;
  let session: Session | undefined;
  let stopKeepAlive = (): void => undefined;
  let timer: NodeJS.Timeout | undefined;
  let left = false;
  let startedAt: Date | undefined;

  async function hold(): Promise<void> {
    const opened = await db.session((error, lost) => {
      onTrouble(error);
      if (session !== lost) return;
      session = undefined;
      stopKeepAlive();
      reopenLater();
    });
    session = opened;
    try {
      // A connection that opens after the process has left would keep the process from ending.
      if (!left) await opened.query('select pg_advisory_lock($1, $2)', [LEASE, worker]);
      if (!left) startedAt = await noteProcess(db, worker, about, startedAt);
    } catch (error) {
      await end(opened);
      throw error;
    }
    if (left) return end(opened);
    if (session === opened) stopKeepAlive = keepAlive(opened, db.lockTiming);
  }
  async function end(opened: Session): Promise<void> {
    if (session === opened) session = undefined;
    await opened.end().catch(() => undefined);
  }
  function reopenLater(): void {
    if (left || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      hold().catch((error: Error) => {
        if (left) return;
        onTrouble(error);
        reopenLater();
      });
    }, 1_000);
    timer.unref();
  }

  async function leave(): Promise<void> {
    left = true;
    clearTimeout(timer);
    stopKeepAlive();
    if (session !== undefined) await end(session);
  }

  try {
    await hold();
  } catch (error) {
    // A loss that was noticed would have the lease renewed, for a worker that never began.
    await leave();
    throw error;
  }
  return { worker, startedAt: startedAt ?? new Date(), leave };
}

/** How many sending processes are alive, including this one. */
export async function countWorkers(db: Database): Promise<number> {
  const [row] = await db.query<{ n: number }>(`select count(*) as n from (${LIVE_WORKERS}) live`);
  return row?.n ?? 0;
}
