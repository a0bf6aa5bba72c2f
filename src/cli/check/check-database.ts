// Compares a configuration with an existing database: finds feeds that seem to be renamed, sites that seem to have moved, and sites that do
// not keep the reference that creates send.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describeMove } from '../../apply/confirm-address.ts';
import { evidenceOf } from '../../apply/watch-site.ts';
import { type Config, namedFeeds, type SiteConfig } from '../../config/config.ts';
import { sourceDigest } from '../../config/config-digests.ts';
import { describeLeft } from '../../operations/status.ts';
import { type Message, reword } from '../../plan/message.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { refuseNewName } from '../../pull/refuse-feed.ts';
import { openServer } from '../../runtime/app.ts';
import { openProvenClient } from '../../runtime/open-site-client.ts';
import { addressOf } from '../../site/base-address.ts';
import { possibleFormerNames, unconfiguredFeeds } from '../../store/feed/unconfigured-feeds.ts';
import { jobsWithReference } from '../../store/mapping/visible-jobs.ts';
import { type Database, openDatabase } from '../../store/postgres/database.ts';
import { migrate } from '../../store/postgres/migrate.ts';
import { onUsableServer, UnusableServerError } from '../../store/postgres/usable-server.ts';
import { describeReference, noteReference, referenceState, type SiteReference } from '../../store/site/kept-values.ts';
import { findMove } from '../../store/site/known-address.ts';

export interface DatabaseCheck {
  /** Reasons why a feed will not be pulled or nothing will be sent to a site. */
  readonly problems: readonly Message[];
  /** Facts worth knowing that stop nothing. */
  readonly warnings: readonly Message[];
  /** Why the database could not be checked; `undefined` if it was, or does not exist yet. */
  readonly unseen?: string;
}

const NOTHING: DatabaseCheck = { problems: [], warnings: [] };

/** @param online whether sites are asked for jobs of ours. Never creates a database. An unreachable one is not a configuration error, so it is reported as `unseen`. */
export async function checkDatabase(config: Config, online: boolean): Promise<DatabaseCheck> {
  if (config.database.kind === 'embedded' && !existsSync(join(config.dataDir, 'postgres'))) return NOTHING;
  try {
    const server = await openServer(config, () => undefined);
    const db = openDatabase(server.url, { max: 1 });
    try {
      const [found] = await onUsableServer(db, (session) =>
        session.query<{ any: boolean }>(`select to_regclass('migration') is not null as any`),
      );
      if (found?.any !== true) return NOTHING;
      await migrate(server.url);
      return await compare(config, db, online);
    } finally {
      await db.close();
      await server.leave();
    }
  } catch (error) {
    if (error instanceof UnusableServerError) return { ...NOTHING, problems: [`database: ${error.message}`] };
    return { ...NOTHING, unseen: `the database can't be read: ${(error as Error).message}` };
  }
}

/** What is wrong with the Redis of a configuration, or why that is unknown. */
export async function checkQueue({ queue }: Config): Promise<readonly string[]> {
  if (queue.kind === 'database') return [];
  try {
    // Loads libraries that no other configuration needs.
    return await (await import('../../queue/redis-wiring.ts')).inspectRedis(queue.url.reveal());
  } catch (error) {
    return [(error as Error).message];
  }
}

async function compare(config: Config, db: Database, online: boolean): Promise<DatabaseCheck> {
  const { feeds, sites } = config;
  const named = namedFeeds(config);
  const problems: Message[] = [];
  for (const { name, options } of sites.values()) {
    const move = await findMove(db, name, addressOf(options));
    if (move !== undefined) problems.push(reword(describeMove(name, move), (text) => `site ${name}: ${text}`));
  }
  const reported = new Set<FeedName>();
  for (const { name, siteName, source } of feeds.values()) {
    const address = addressOf((sites.get(siteName) as SiteConfig).options);
    const asked = { feed: name, site: siteName, address, source: sourceDigest(source) };
    const former = await possibleFormerNames(db, asked, named);
    if (former.length > 0) problems.push(refuseNewName(name, siteName, former));
    for (const { feed } of former) reported.add(feed);
  }
  const left = (await unconfiguredFeeds(db, named)).filter(({ live, unsent }) => live + unsent > 0);
  const warnings = left.filter(({ feed }) => !reported.has(feed)).map(describeLeft);
  // At another address the site may be another one.
  if (problems.length === 0) warnings.push(...(await checkReferences(config, db, online)));
  return { problems, warnings };
}

/** So many jobs are asked for. */
const MOST_ASKED = 3;

/** @returns warnings */
async function checkReferences({ sites }: Config, db: Database, online: boolean): Promise<Message[]> {
  const warnings: Message[] = [];
  for (const site of sites.values()) {
    const { name, options } = site;
    if (options.referenceField === undefined) continue;
    const reference = { site: name, address: addressOf(options), field: options.referenceField };
    if (online) await lookAtJobs(db, site, reference);
    const message = describeReference(reference.field, await referenceState(db, reference));
    if (message !== undefined) warnings.push(reword(message, (text) => `site ${name}: ${text}`));
  }
  return warnings;
}

/** What a site that cannot be asked keeps is not known. */
async function lookAtJobs(db: Database, site: SiteConfig, reference: SiteReference): Promise<void> {
  const jobs = await jobsWithReference(db, site.name, reference.field, MOST_ASKED);
  if (jobs.length === 0) return;
  const client = await openProvenClient(db, site);
  try {
    // Everybody may see less of a job than the user of the token.
    const token = await client.checkToken('list');
    const isUser = token.kind === 'accepted' || token.kind === 'needed';
    for (const { siteJobId, fields } of jobs) {
      const shown = await client.show(siteJobId).catch(() => undefined);
      const evidence = shown === undefined ? undefined : evidenceOf(fields, shown, reference.field);
      if (evidence?.kind === 'shown' || (evidence !== undefined && isUser))
        await noteReference(db, reference, evidence);
    }
  } finally {
    await client.close();
  }
}
