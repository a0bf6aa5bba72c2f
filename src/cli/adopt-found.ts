// Adopts the site jobs that a search found for a feed, where their posting is certain. Asks for confirmation first.
import type { SiteConfig } from '../config/config.ts';
import { rateLimiterFor } from '../flow/rate-limiter.ts';
import { plural } from '../plan/plural.ts';
import type { FeedName } from '../posting/identifiers.ts';
import {
  type AdoptedFound,
  adoptFoundJobs,
  type FoundJobsOfFeed,
  type LeftEntry,
  readFoundJobs,
} from '../review/adopt-found.ts';
import type { App } from '../runtime/app.ts';
import { ExitStatus, UserError, worst } from '../runtime/exit-status.ts';
import { openSiteClient } from '../runtime/site-access/open-site-client.ts';
import { ask, printJson, printLine } from '../telemetry/print.ts';
import { startProgressLine } from '../telemetry/progress-line.ts';
import { actorName } from './actor.ts';
import { commandWriter } from './command-line.ts';
import { refuseMove } from './refuse-move.ts';
import { sendAndTell } from './send-and-tell.ts';

export interface AdoptFoundOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly as?: string;
  readonly yes?: boolean;
  readonly send: boolean;
}

const MOST_NAMED = 20;

export async function adoptFoundOf(
  app: App,
  feed: FeedName,
  options: AdoptFoundOptions,
  signal: AbortSignal,
): Promise<void> {
  const site = siteOf(app, feed);
  const { referenceField } = site.options;
  if (referenceField === undefined) throw new UserError(`site ${site.name} has no reference_field to tell jobs by`);
  await refuseMove(app, site, options.config);
  const { sure, left: ambiguous } = await readFoundJobs(app.db, feed, referenceField);
  if (sure.length > 0 && options.yes !== true) await askToAdopt(feed, sure.length, ambiguous.length, options);
  const { adopted, refused } = await adopt(app, site, sure, options, signal);
  const left = [...ambiguous, ...refused];
  const acted = adopted.map(({ entry }) => ({ id: entry, feed }));
  const message = describe(adopted.length, left.length);
  const act = { action: 'settle', entries: [], feeds: [{ feed, done: adopted.length, message }], acted };
  const status = await sendAndTell(app, act, {
    json: options.json === true,
    send: options.send,
    write: commandWriter(options.config),
  });
  await reportLeft(feed, left, options);
  process.exitCode = worst([status, left.length > 0 ? ExitStatus.review : ExitStatus.done]);
}

function siteOf({ config }: App, feed: FeedName): SiteConfig {
  const configured = config.feeds.get(feed);
  const site = configured && config.sites.get(configured.siteName);
  if (site === undefined) throw new UserError(`there is no feed ${feed} in ${config.path}`);
  return site;
}

async function askToAdopt(feed: FeedName, sure: number, left: number, options: AdoptFoundOptions): Promise<void> {
  const lines = [
    `This adopts ${plural(sure, 'job')} on the site for feed ${feed}: each shows exactly the reference of a posting, and ` +
      'no other posting or job has it. Their other fields are set to the values in the feed.',
    ...(left === 0 ? [] : [`${plural(left, 'found job')} ${left === 1 ? 'is' : 'are'} left: decide one by one.`]),
  ];
  const answer = await ask(`${lines.join('\n')}\nAdopt them? [y/N] `);
  if (answer === undefined) {
    const write = commandWriter(options.config);
    const ways = [
      `  see them:       ${write(['review', 'list', feed])}`,
      `  adopt them:     ${write(['review', 'settle', feed, '--found', '--yes'])}`,
    ];
    throw new UserError([...lines, 'Nothing was adopted.', ...ways].join('\n'));
  }
  if (!/^\s*y(es)?\s*$/i.test(answer)) throw new UserError('Nothing was adopted.');
}

async function adopt(
  { db }: App,
  { options: site, requestsPerSecond }: SiteConfig,
  sure: FoundJobsOfFeed['sure'],
  options: AdoptFoundOptions,
  signal: AbortSignal,
): Promise<AdoptedFound> {
  const client = await openSiteClient(site);
  const progress = startProgressLine();
  try {
    const checked = { client, rateLimiter: rateLimiterFor(requestsPerSecond), referenceField: site.referenceField };
    const end = await adoptFoundJobs(db, sure, checked, {
      actor: actorName(options.as),
      signal,
      onProgress: (done) => progress.show(`${done} of ${plural(sure.length, 'job')} checked`),
    });
    signal.throwIfAborted();
    return end;
  } finally {
    progress.clear();
    await client.close();
  }
}

function describe(adopted: number, left: number): string {
  const done = adopted === 0 ? 'no job adopted' : `${plural(adopted, 'job')} adopted`;
  return left === 0 ? done : `${done}; ${plural(left, 'found job')} left: decide one by one`;
}

async function reportLeft(feed: FeedName, left: readonly LeftEntry[], options: AdoptFoundOptions): Promise<void> {
  if (options.json === true) {
    for (const { entry, key, siteJobId, message } of left) {
      await printJson({ action: 'settle', entry, feed, key, job_id: siteJobId, result: 'left', message });
    }
    return;
  }
  for (const { entry, key, message } of left.slice(0, MOST_NAMED)) {
    await printLine(`${entry} ${feed} ${key}: left: ${message}`);
  }
  if (left.length === 0) return;
  const write = commandWriter(options.config);
  if (left.length > MOST_NAMED)
    await printLine(`and ${left.length - MOST_NAMED} more: ${write(['review', 'list', feed])}`);
  await printLine(`Decide with: ${write(['review', 'settle', 'ID', '--exists', 'JOBID'])} or --missing`);
}
