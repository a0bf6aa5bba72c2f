// Opens the site of a review entry, to check a job there before a person's decision is recorded.
import { describeMove } from '../apply/confirm-address.ts';
import type { SiteConfig } from '../config/config.ts';
import { tell } from '../plan/message.ts';
import type { App } from '../runtime/app.ts';
import { type OpenCandidateSite, openCandidateSite } from '../runtime/open-site-client.ts';
import { addressOf } from '../site/base-address.ts';
import { findChange } from '../store/change/open-change.ts';
import { findMove } from '../store/site/known-address.ts';
import { ProblemError } from './problem.ts';

/**
 * The caller closes its client. `undefined`: the site is no longer configured.
 * @throws {ProblemError} if its jobs were made at another address: a check there would prove nothing
 */
export async function openSiteOfEntry(app: App, id: number): Promise<OpenCandidateSite | undefined> {
  const { db, config } = app;
  const change = await findChange(db, id);
  const site = change === undefined ? undefined : config.sites.get(change.site);
  if (site === undefined) return undefined;
  await expectNotMoved(app, site);
  return openCandidateSite(db, site);
}

/** @throws {ProblemError} 409 if the jobs of the site were made at another address */
export async function expectNotMoved({ db, writeAction }: App, { name, options }: SiteConfig): Promise<void> {
  const move = await findMove(db, name, addressOf(options));
  if (move !== undefined) throw new ProblemError({ status: 409, detail: tell(describeMove(name, move), writeAction) });
}
