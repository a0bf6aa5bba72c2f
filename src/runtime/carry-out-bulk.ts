// Carries out an action on many review entries, which may ask sites about their jobs.
import type { SiteName } from '../posting/identifiers.ts';
import { type AdoptRunOptions, adoptFoundJobs } from '../review/bulk/adopt-found.ts';
import { type BulkOptions, type BulkRun, runBulk } from '../review/bulk/run-bulk.ts';
import { tryLockBulk } from '../store/locks/bulk-lock.ts';
import { findBulk } from '../store/review/bulk-actions.ts';
import type { SiteConnection } from './adopting/open-adopting.ts';
import type { App } from './app.ts';
import { openFoundSites } from './site-access/found-sites.ts';

/**
 * Carries out the action until it is done, a person stops it, `signal` is aborted, or it has to wait for a site. `undefined`: there is
 * no such action. `taken`: another process asks the sites for it.
 * @param connectionOf how the process already sends to a site
 */
export async function carryOutBulk(
  app: App,
  id: number,
  options: BulkOptions & Pick<AdoptRunOptions, 'askAgainMs'>,
  connectionOf?: (site: SiteName) => SiteConnection | undefined,
): Promise<BulkRun | 'taken' | undefined> {
  const { db, config } = app;
  if ((await findBulk(db, id))?.action !== 'adopt') return runBulk(db, config, id, options);
  const lock = await tryLockBulk(db, id);
  if (lock === undefined) return 'taken';
  const signal = AbortSignal.any([options.signal, lock.lost]);
  const sites = openFoundSites(app, signal, connectionOf);
  try {
    return await adoptFoundJobs(db, id, sites, { ...options, signal });
  } finally {
    await sites.close().finally(() => lock.release());
  }
}
