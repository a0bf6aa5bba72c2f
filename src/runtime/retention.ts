// Has old rows removed: regularly in `start` and `work`, after the mirroring in `sync`, once an hour over all processes.

import { claimRetention, forgetOldRows, resumeRetentionSoon } from '../store/postgres/retention.ts';
import { describePassing } from '../store/postgres/transient-error.ts';
import type { App } from './app.ts';

/** Soon after the start, when pulls that were overdue have begun. */
const FIRST_MS = 5_000;
const EVERY_MS = 10 * 60_000;
/** Whoever waits for `sync` does not wait long for this; what is left is for the next command. */
const AFTER_SYNC_MS = 10_000;

/** Removes old rows as long as the process runs. */
export function startRetention(app: App): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let round: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout;
  const next = (delayMs: number) => {
    timer = setTimeout(() => {
      round = removeOldRows(app, stopping.signal).finally(() => {
        if (!stopping.signal.aborted) next(EVERY_MS);
      });
    }, delayMs);
  };
  next(FIRST_MS);
  return {
    async stop() {
      clearTimeout(timer);
      stopping.abort();
      await round;
    },
  };
}

/** Removes old rows for a bounded time, for a command that ends. */
export const removeOldRowsBriefly = (app: App, signal: AbortSignal): Promise<void> =>
  removeOldRows(app, AbortSignal.any([signal, AbortSignal.timeout(AFTER_SYNC_MS)]));

/** Never throws: what stays is removed another time. */
async function removeOldRows({ config, db, log }: App, signal: AbortSignal): Promise<void> {
  const { requestsDays, failuresDays, auditDays, pullsDays } = config.retention;
  const days = { requests: requestsDays, failures: failuresDays, audit: auditDays, pulls: pullsDays };
  try {
    if (signal.aborted || !(await claimRetention(db))) return;
    await forgetOldRows(db, days, signal);
    if (signal.aborted) await resumeRetentionSoon(db);
  } catch (error) {
    await resumeRetentionSoon(db).catch(() => undefined);
    const reason = describePassing(error);
    log.warn(reason === undefined ? { err: error } : { reason }, 'old rows not removed, will retry');
  }
}
