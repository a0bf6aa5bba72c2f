// `jobmirror verify`: compares the jobs of feeds with what their sites show now, and marks differences to be set again.
import { Command, Option } from 'commander';
import { learntRateLimiter } from '../../apply/learnt-rate-limiter.ts';
import type { SiteConfig } from '../../config/config.ts';
import { notesOnRestore } from '../../operations/status.ts';
import { createOnlyOf } from '../../plan/desired-change.ts';
import { updatesJobs } from '../../plan/policy.ts';
import { type FeedName, postingKey, type SiteName } from '../../posting/identifiers.ts';
import type { FeedSetup } from '../../pull/feed-setup.ts';
import { markToSendAgain, type PostingsSetAgain } from '../../review/jobs/verify-feed.ts';
import {
  type FeedCounts,
  noCounts,
  type VerifyEnd,
  type VerifyProgress,
  type VerifySubject,
  verifySite,
} from '../../review/jobs/verify-site.ts';
import type { App } from '../../runtime/app.ts';
import { chooseFeeds } from '../../runtime/feed-setups.ts';
import { openProvenClient, whyClosed } from '../../runtime/open-site-client.ts';
import { verifySubjectOf } from '../../runtime/schedule/scheduled-verify.ts';
import { ExitStatus, UserError, worstStatus } from '../../runtime/stop-signal.ts';
import { recordVerify, type VerifyResult } from '../../store/feed/feed-verify.ts';
import { type MappedJob, Verification } from '../../store/mapping/verification.ts';
import {
  OutputFailedError,
  type ProgressLine,
  printJson,
  printLine,
  printNotice,
  startProgressLine,
} from '../../telemetry/print.ts';
import {
  ACTOR,
  actorName,
  CONFIG,
  type CommonOptions,
  commandWriter,
  positiveNumber,
  type WriteCommand,
} from '../adapter/command-line.ts';
import { withApp } from '../adapter/with-app.ts';
import { say } from '../adapter/write-action.ts';
import { describeResult, type FeedResult, findingPrinter, resultJson } from '../output/describe-finding.ts';

export function verifyCommand(): Command {
  return new Command('verify')
    .argument('[feed...]', 'names of feeds; all of the configuration if none is given')
    .option(...CONFIG)
    .addOption(
      new Option('--sample <n>', 'ask only for so many jobs of each feed, at random')
        .argParser(positiveNumber)
        .conflicts(['each', 'after']),
    )
    .option('--each', 'ask for each job, without reading the list of the site')
    .option('--after <key>', 'with --each and one feed: begin after this posting')
    .option('--field <name...>', 'compare only these fields')
    .option('--repair', 'mark what is gone or changed, so that the next sync sets it again')
    .option(...ACTOR)
    .option('--json', 'print one JSON object per finding, then one per feed')
    .addHelpText(
      'after',
      '\nNothing is sent but requests to show jobs. Jobs that show another posting’s reference, and other jobs with the reference\n' +
        'of a posting, are only reported, with or without --repair.',
    )
    .action((names: string[], options: VerifyOptions) => {
      if (options.after !== undefined && (options.each !== true || names.length !== 1))
        throw new UserError('--after belongs to --each and the name of one feed');
      return withApp(options, (app, signal) => verifyFeeds(app, names, options, signal));
    });
}

interface VerifyOptions extends CommonOptions {
  readonly sample?: number;
  readonly each?: boolean;
  readonly after?: string;
  readonly field?: readonly string[];
  readonly repair?: boolean;
}

/** Everything about one site that the command works with. */
interface Verified {
  readonly app: App;
  readonly site: SiteConfig;
  readonly setups: readonly FeedSetup[];
  readonly options: VerifyOptions;
  readonly signal: AbortSignal;
  readonly progress: ProgressLine;
  readonly write: WriteCommand;
}

async function verifyFeeds(
  app: App,
  names: readonly string[],
  options: VerifyOptions,
  signal: AbortSignal,
): Promise<void> {
  const { setups, broken } = chooseFeeds(app.config, names);
  checkFields(setups, options.field);
  const statuses: ExitStatus[] = broken.map(({ feed, message }) => {
    printNotice(`${feed}: ${message}`);
    return ExitStatus.failed;
  });
  const progress = startProgressLine();
  const write = commandWriter(options.config);
  let differing = 0;
  try {
    for (const [name, ofSite] of bySite(setups)) {
      const site = app.config.sites.get(name) as SiteConfig;
      const results = await verifyOne({ app, site, setups: ofSite, options, signal, progress, write });
      progress.clear();
      const restored = await notesOnRestore(app);
      for (const result of results) {
        differing += result.counts.changed + result.counts.gone;
        const note = restored.get(result.feed);
        const told = note === undefined ? undefined : say(note, write);
        if (options.json === true) await printJson(resultJson(result, told));
        else await printLine([describeResult(result), told].filter(Boolean).join('\n'));
      }
      statuses.push(...results.map(statusOf));
    }
  } finally {
    progress.clear();
  }
  process.exitCode = worstStatus(statuses);
  const isReview = process.exitCode === ExitStatus.review && differing > 0;
  if (isReview && options.repair !== true && options.json !== true) {
    const same = [...names, ...(options.each === true ? ['--each'] : []), ...fieldWords(options)];
    await printLine(`Set again what is gone or changed: ${write(['verify', ...same, '--repair'])}`);
  }
}

const fieldWords = ({ field = [] }: VerifyOptions): string[] => field.flatMap((name) => ['--field', name]);

function checkFields(setups: readonly FeedSetup[], fields: readonly string[] = []): void {
  const known = new Set(setups.flatMap(({ mapping }) => Object.keys(mapping.fields)));
  const unknown = fields.filter((name) => !known.has(name));
  if (setups.length > 0 && unknown.length > 0)
    throw new UserError(`no feed here has the field ${unknown.join(', ')}; fields: ${[...known].join(', ')}`);
  for (const name of fields) {
    const having = setups.filter(({ mapping }) => Object.hasOwn(mapping.fields, name));
    const leaving = having.filter(({ mapping }) => createOnlyOf(mapping)?.has(name) === true);
    if (leaving.length === 0) continue;
    const message = `${name} is left to the site (create_only_fields of ${leaving.map(({ feed }) => feed).join(', ')}), so it is not compared`;
    if (leaving.length === having.length) throw new UserError(message);
    printNotice(message);
  }
}

function bySite(setups: readonly FeedSetup[]): ReadonlyMap<SiteName, readonly FeedSetup[]> {
  const sites = new Map<SiteName, FeedSetup[]>();
  for (const setup of setups) sites.set(setup.site, [...(sites.get(setup.site) ?? []), setup]);
  return sites;
}

function statusOf({ counts, failure, setAgain: done }: FeedResult): ExitStatus {
  if (failure !== undefined || counts.unasked > 0) return ExitStatus.failed;
  const left = counts.changed + counts.gone - (done?.marked ?? 0) + counts.foreign;
  return left > 0 ? ExitStatus.review : ExitStatus.done;
}

/** A site that can't be asked does not stop the others. */
async function verifyOne(verified: Verified): Promise<FeedResult[]> {
  const { app, site, setups, signal, write } = verified;
  const feeds = setups.map(({ feed }) => feed);
  const failed = (failure: string): FeedResult[] =>
    feeds.map((feed) => ({ feed, counts: noCounts(), failure, setAgain: undefined }));
  const closed = await whyClosed(app, site);
  if (closed !== undefined) return failed(say(closed, write));
  try {
    return await withSite(verified, feeds);
  } catch (error) {
    if (signal.aborted || error instanceof OutputFailedError) throw error;
    return failed(error instanceof Error ? error.message : String(error));
  }
}

async function withSite(verified: Verified, feeds: readonly FeedName[]): Promise<FeedResult[]> {
  const { app, site, setups, signal, options, progress, write } = verified;
  const client = await openProvenClient(app.db, site);
  const verification = await Verification.open(app.db, site.name, feeds);
  let last: MappedJob | undefined;
  try {
    const onProgress = (done: VerifyProgress) => {
      if (done.what === 'asked') last = done.job;
      progress.show(describeProgress(site.name, done));
    };
    const subject = subjectOf(verified, client, onProgress);
    const end = await verifySite(verification, subject);
    const results: FeedResult[] = [];
    for (const { feed, policy } of setups) {
      const isSetAgain = options.repair === true && updatesJobs(policy);
      const again = isSetAgain ? await markAll(verified, verification, feed) : undefined;
      if (options.repair === true && !isSetAgain)
        printNotice(`${feed}: policy ${policy} changes no job: what differs is not set again`);
      const result = resultOf(feed, end, again, write);
      results.push(result);
      const isWhole = [options.sample, options.after, options.field, result.failure].every(
        (each) => each === undefined,
      );
      if (isWhole) await recordVerify(app.db, feed, toRecord(result));
    }
    return results;
  } finally {
    progress.clear();
    if (signal.aborted) tellStopped(verified, last);
    await client.close();
    await verification.close();
  }
}

/** What `status` shows of it, as of a scheduled run. */
function toRecord({ counts, setAgain: again }: FeedResult): VerifyResult {
  const { jobs, same, changed, gone, foreign, waiting, unknown, unasked } = counts;
  const marked = again?.marked ?? 0;
  const left = changed + gone + foreign - marked;
  return { jobs, same, changed, gone, foreign, untold: waiting + unknown + unasked, marked, left };
}

function subjectOf(
  { app, site, setups, options, signal, progress }: Verified,
  client: Awaited<ReturnType<typeof openProvenClient>>,
  onProgress: (done: VerifyProgress) => void,
): VerifySubject {
  const rateLimiter = learntRateLimiter(app.db, site, () => signal.aborted);
  return {
    ...verifySubjectOf(app.db, site, setups, { client, rateLimiter, signal }),
    only: options.field === undefined ? undefined : new Set(options.field),
    selection: selectionOf(site, options),
    keepsDrift: options.repair === true,
    makesKnown: options.repair === true,
    onProgress,
    onFinding: findingPrinter(options.json === true, () => progress.clear()),
  };
}

function selectionOf(
  { options: { listPath } }: SiteConfig,
  { sample, each, after }: VerifyOptions,
): VerifySubject['selection'] {
  if (sample !== undefined) return { kind: 'sample', most: sample };
  if (each !== true && listPath !== undefined) return { kind: 'list' };
  return { kind: 'all', after: after === undefined ? undefined : postingKey(after) };
}

function describeProgress(site: SiteName, progress: VerifyProgress): string {
  switch (progress.what) {
    case 'listed':
      return `reading the list of site ${site}: ${progress.done} jobs`;
    case 'asked':
      return `asking site ${site}: ${progress.done} of ${progress.all} jobs`;
    default:
      return progress satisfies never;
  }
}

async function markAll(
  { app, options, signal, progress }: Verified,
  verification: Verification,
  feed: FeedName,
): Promise<PostingsSetAgain> {
  let isTold = false;
  const onWait = () => {
    if (isTold) return;
    isTold = true;
    progress.clear();
    printNotice(`${feed} is being pulled: waiting until that has ended`);
  };
  return markToSendAgain(verification, feed, { db: app.db, actor: actorName(options.as), signal, onWait });
}

function resultOf(
  feed: FeedName,
  end: VerifyEnd,
  again: PostingsSetAgain | undefined,
  write: WriteCommand,
): FeedResult {
  const counts = end.counts.get(feed) as FeedCounts;
  const failure = end.failure === undefined ? undefined : say(end.failure, write);
  return { feed, counts, failure, setAgain: again };
}

/** A run that asks for each job may take hours. */
function tellStopped({ options, setups, write }: Verified, last: MappedJob | undefined): void {
  if (last === undefined || options.each !== true || options.repair === true || setups.length !== 1) return;
  const rest = write(['verify', last.feed, '--each', '--after', last.key, ...fieldWords(options)]);
  printNotice(`Stopped. To go on after the last job that was compared: ${rest}`);
}
