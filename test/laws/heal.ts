// Ends all faults and lets an installation recover by itself.

import type { SiteName } from '../../src/posting/identifiers.ts';
import type { PullReportJson } from '../../src/runtime/conclude-pull.ts';
import { retryChanges } from '../../src/store/change/act-in-review.ts';
import { selectedIds } from '../../src/store/review/review-totals.ts';
import { resumeSite, trustGoneForADay } from '../../src/store/site/site-state.ts';
import type { Installation } from './installation.ts';

/** Maximum number of pulls: each run may leave some changes to the next one. */
const PULLS = 5;

/**
 * Switches the site's faults off, resumes the site as a person would, retries what failed, and pulls until nothing is left
 * to send. Returns the last report.
 */
export async function heal(installation: Installation): Promise<PullReportJson> {
  await installation.sandbox.setFaults([]);
  await installation.sandbox.requests.idle();
  const app = await installation.app();
  await resumeSite(app.db, 'board' as SiteName);
  await app.db.transaction(async (tx) =>
    retryChanges(tx, await selectedIds(tx, { feed: 'acme' as never }), 'a person'),
  );
  let report = await installation.sync();
  for (let pull = 1; pull < PULLS && isMoving(report); pull++) {
    if (report.message?.includes('--emptied') === true) await sayEmptied(installation);
    report = await installation.sync();
  }
  return report;
}

/** Does what `resume board --emptied` does: every job that was asked for has been deleted by hand. */
async function sayEmptied(installation: Installation): Promise<void> {
  const { db } = await installation.app();
  await trustGoneForADay(db, 'board' as SiteName);
  await resumeSite(db, 'board' as SiteName);
}

const isMoving = (report: PullReportJson): boolean =>
  report.pending > 0 || report.pending_deletes > 0 || report.status === 'failed';
