// Makes parts for new rows before anything is sent. Notes the sizes of review groups and removes old rows: regularly in `start` and
// `work`, after the mirroring in `sync`, once an hour across all processes.
import { type RepeatedWork, startRounds } from '../flow/pause.ts';
import { describePassing } from '../store/postgres/transient-error.ts';
import { forgetGroupCounts, noteGroupCounts } from '../store/review/review-groups.ts';
import { foldReviewCounts } from '../store/review/review-totals.ts';
import { addParts, PARTED_TABLES } from '../store/status/parts.ts';
import { claimRetention, daysKept, forgetOldRows, resumeRetentionSoon } from '../store/status/retention.ts';
import type { App } from './app.ts';

/** Soon after the start, once overdue pulls have started. */
const FIRST_AFTER_MS = 5_000;
const EVERY_MS = 10 * 60_000;
/** `sync` must not take much longer because of this; the next command removes the rest. */
const AFTER_SYNC_MS = 10_000;

/** Removes old rows regularly while the process runs. */
export const startRetention = (app: App): RepeatedWork =>
  startRounds((signal) => removeOldRows(app, signal), { firstAfterMs: FIRST_AFTER_MS, everyMs: EVERY_MS });

/** Removes old rows for a limited time, before a command ends. */
export const removeOldRowsBriefly = (app: App, signal: AbortSignal): Promise<void> =>
  removeOldRows(app, AbortSignal.any([signal, AbortSignal.timeout(AFTER_SYNC_MS)]));

/** Never throws: rows that have no part are recorded as well. */
export async function preparePartsToSend({ config, db, log }: App): Promise<void> {
  for (const table of PARTED_TABLES) {
    try {
      await addParts(db, table, daysKept(table, config.retentionDays));
    } catch (error) {
      const reason = describePassing(error);
      log.warn({ table, ...(reason === undefined ? { err: error } : { reason }) }, 'no part made, will retry');
    }
  }
}

/** Never throws: what remains is removed later. */
async function removeOldRows({ config, db, log }: App, signal: AbortSignal): Promise<void> {
  try {
    if (signal.aborted || !(await claimRetention(db))) return;
    await foldReviewCounts(db);
    await noteGroupCounts(db);
    await forgetOldRows(db, config.retentionDays, signal);
    await forgetGroupCounts(db);
    if (signal.aborted) await resumeRetentionSoon(db);
  } catch (error) {
    await resumeRetentionSoon(db).catch(() => undefined);
    const reason = describePassing(error);
    log.warn(reason === undefined ? { err: error } : { reason }, 'old rows not removed, will retry');
  }
}
