// Opens a client of a site for a command or a person, or tells why the site must not be asked. The client is loaded
// here: commands that ask no site start without HTTP and XML libraries.
import { describeMove, takeAddress } from '../apply/confirm-address.ts';
import { learntRateLimiter } from '../apply/learnt-rate-limiter.ts';
import { proveReads } from '../apply/prove-token.ts';
import type { Config, SiteConfig } from '../config/config.ts';
import { placesOf } from '../config/load-us-states.ts';
import { type Message, messageOf, reword, textOf } from '../plan/message.ts';
import { tellPauses } from '../plan/pause-words.ts';
import type { SiteName } from '../posting/identifiers.ts';
import type { CandidateSite } from '../review/compare-doubt.ts';
import type { CheckedSite } from '../review/health/check-verdict.ts';
import type { SiteClient, SiteOptions } from '../site/exchange.ts';
import { addressOf } from '../site/http/job-address.ts';
import { readPausesOf } from '../store/locks/pauses.ts';
import type { Database, Queryable } from '../store/postgres/database.ts';
import { readInstallation } from '../store/postgres/migrate.ts';
import { tokenDigest } from '../store/site/refused-token.ts';
import { readSiteState, stateAt } from '../store/site/site-state.ts';
import { formatTime } from '../telemetry/times.ts';
import type { App } from './app.ts';

/** Whatever reads with it proves nothing about the token. */
export async function openSiteClient(options: SiteOptions): Promise<SiteClient> {
  const { createSiteClient } = await import('../site/http/client.ts');
  return createSiteClient(options);
}

/** What it does not find is missing only if it is proven that the site accepts the token: see `proveReads`. */
export async function openProvenClient(
  db: Queryable,
  { name, options, requestsPerSecond }: SiteConfig,
): Promise<SiteClient> {
  const digest = tokenDigest(await readInstallation(db), name, options.token.reveal());
  return proveReads({ db, site: name, tokenDigest: digest, client: await openSiteClient(options), requestsPerSecond });
}

/** For comparing, and for checking a decision. */
export type OpenCandidateSite = CandidateSite &
  CheckedSite &
  Required<Pick<CheckedSite, 'resolveAfterMs'>> & { readonly client: SiteClient };

/** The caller closes its client, and has made sure that the site is at the address where its jobs were made. */
export async function openCandidateSite(db: Database, site: SiteConfig): Promise<OpenCandidateSite> {
  return {
    client: await openProvenClient(db, site),
    rateLimiter: learntRateLimiter(db, site),
    referenceField: site.options.referenceField,
    places: placesOf(site),
    resolveAfterMs: site.doubts.resolveAfterMs,
  };
}

/**
 * The site is paused, or its jobs were made at another address; `undefined`: it may be asked. Records the address, as the
 * database is about to know jobs there.
 * @param otherwise another way to go on while it is paused.
 */
export async function whyClosed(
  { db, config }: App,
  { name, options }: SiteConfig,
  otherwise?: string,
): Promise<Message | undefined> {
  const address = addressOf(options);
  const taken = await takeAddress(db, name, address);
  if (taken.kind === 'moved') return describeMove(name, taken.move);
  const pauses = await readPausesOf(db, { site: name });
  if (pauses.length > 0) return reword(tellPauses(pauses, formatTime), (why) => `${why}. Site ${name} was not asked`);
  const token = (await tokenDigests(db, config)).get(name);
  const { pausedSince, pauseCause } = stateAt(address, await readSiteState(db, name, token));
  if (pausedSince === undefined) return undefined;
  const cause = pauseCause === undefined ? '' : ` (${textOf(pauseCause)})`;
  return messageOf(`site ${name} is paused${cause} and was not asked: resume it with`, [
    { action: { kind: 'resume_site', site: name } },
    ...(otherwise === undefined ? [] : [{ words: otherwise }]),
  ]);
}

// Computes the digests that represent this configuration's tokens in the database, to tell its own pauses from others'; a token that it does not have is left out.

export async function tokenDigests(db: Queryable, config: Config): Promise<ReadonlyMap<SiteName, string>> {
  const installation = await readInstallation(db);
  const sites = [...config.sites.values()];
  return new Map(
    sites
      .filter(({ options }) => options.token.absence === undefined)
      .map(({ name, options }) => [name, tokenDigest(installation, name, options.token.reveal())]),
  );
}
