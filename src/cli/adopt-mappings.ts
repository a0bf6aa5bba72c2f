// Matches the jobs of a site to the postings of a feed for a command, prints what it finds, and maps what is confirmed.
import { foundJobsScope, siteOfFeed } from '../operations/adoption.ts';
import { expectNotMoved } from '../operations/sites.ts';
import { plural } from '../plan/message.ts';
import { type FeedName, postingKey } from '../posting/identifiers.ts';
import type { BulkRun } from '../review/bulk/run-bulk.ts';
import {
  adoptSure,
  type FoundJobsOfFeed,
  type LeftEntry,
  readFoundJobs,
  startAdoptingFound,
} from '../review/jobs/proposals.ts';
import type { App } from '../runtime/app.ts';
import { type Adopting, withAdopting } from '../runtime/open-adopting.ts';
import { adoptAsNamed, withMatches } from '../runtime/run-adoption.ts';
import { ExitStatus, UserError, worstStatus } from '../runtime/stop-signal.ts';
import { searchFeedAgain } from '../store/change/site-search.ts';
import type { JobMatching, MatchCounts } from '../store/mapping/job-matching.ts';
import { leftAlone } from '../store/review/bulk-actions.ts';
import type { FoundJobsScope } from '../store/review/found-entries.ts';
import { type ProgressLine, printJson, printLine, printNotice, startProgressLine } from '../telemetry/print.ts';
import { actorName, type CommonOptions, commandWriter } from './adapter/command-line.ts';
import { expectAgreement } from './adapter/with-app.ts';
import { say } from './adapter/write-action.ts';
import { siteJobIdOf } from './ask-first.ts';
import { runShowing } from './bulk-command.ts';
import { nextOf, printMatches } from './output/describe-finding.ts';
import { sendAndTell } from './send-and-tell.ts';

export interface AdoptOptions extends CommonOptions {
  readonly sure?: boolean;
  readonly job?: string;
  readonly posting?: string;
  readonly anyway?: boolean;
}

export function adopt(app: App, name: string, options: AdoptOptions, signal: AbortSignal): Promise<void> {
  return runAdopting(app, name, signal, (adopting) =>
    options.job === undefined ? adoptMany(app, adopting, options) : adoptOneNamed(app, adopting, options),
  );
}

async function adoptMany(app: App, adopting: AdoptingCommand, options: AdoptOptions): Promise<void> {
  const { site, progress } = adopting;
  if (site.options.listPath === undefined)
    throw new UserError(
      `site ${site.name} has no list_path, so its jobs cannot be read; set it, or name each job with --job and --posting, ` +
        'or import which posting is which job with: mappings import FILE',
    );
  await withMatches(app, adopting, async (matching, { since, counts, notes }) => {
    progress.clear();
    if (options.json !== true) for (const note of notes) printNotice(note);
    if (options.sure === true) await printAdopted(adopting, { matching, since, counts }, options);
    else await printFound(matching, adopting, counts, options);
  });
}

async function printFound(
  matching: JobMatching,
  { feed }: AdoptingCommand,
  counts: MatchCounts,
  options: AdoptOptions,
): Promise<void> {
  await printMatches(matching, options.json === true, () => ({ adopted: false, message: undefined }));
  process.exitCode = counts.unsure > 0 ? ExitStatus.review : ExitStatus.done;
  if (options.json === true) return;
  await printLine(describeCounts(counts));
  const write = commandWriter(options.config);
  if (counts.sure > 0) await printLine(`Adopt the certain ones: ${write(['mappings', 'adopt', feed, '--sure'])}`);
  if (counts.unsure > 0)
    await printLine(`Adopt one: ${write(['mappings', 'adopt', feed, '--job', 'JOBID', '--posting', 'KEY'])}`);
}

async function printAdopted(
  adopting: AdoptingCommand,
  { matching, since, counts }: { readonly matching: JobMatching; readonly since: Date; readonly counts: MatchCounts },
  options: AdoptOptions,
): Promise<void> {
  const { subject, feed, progress, checkLock } = adopting;
  const { adopted, refused } = await adoptSure(matching, subject, { actor: actorName(options.as), since, checkLock });
  progress.clear();
  const left = counts.unsure + refused.length;
  // A job that could not be told must not be made a second time by the next sync.
  if (left > 0) await searchFeedAgain(subject.db, feed);
  process.exitCode = left > 0 ? ExitStatus.review : ExitStatus.done;
  const why = new Map(refused.map(({ key, message }) => [key, message]));
  await printMatches(matching, options.json === true, ({ key, verdict }) => {
    const message = why.get(key);
    return { adopted: verdict === 'sure' && message === undefined, message };
  });
  if (options.json === true) return;
  await printLine(
    `${plural(adopted, 'job')} adopted; ${left} left to decide, ${plural(counts.unmatched, 'posting')} without a job.` +
      (adopted > 0 ? nextOf(subject.policy) : ''),
  );
  if (left > 0) {
    const words = ['mappings', 'adopt', feed, '--job', 'JOBID', '--posting', 'KEY'];
    await printLine(`Adopt one: ${commandWriter(options.config)(words)}`);
  }
}

const describeCounts = ({ sure, unsure, unmatched, jobs }: MatchCounts): string =>
  `${sure} sure, ${unsure} unsure, ${unmatched} unmatched; ${plural(jobs, 'other job')} on the site without a posting. Nothing was changed.`;

async function adoptOneNamed(app: App, adopting: AdoptingCommand, options: AdoptOptions): Promise<void> {
  const { subject, feed } = adopting;
  const [key, id] = [postingKey((options.posting ?? '').trim()), siteJobIdOf(options.job ?? '')];
  const named = { key, job_id: id, anyway: options.anyway === true };
  const end = await adoptAsNamed(app, adopting, named, actorName(options.as)).finally(() => adopting.progress.clear());
  if (end.kind === 'refused') {
    const insist = end.mayInsist ? "; if it is this posting's job, add --anyway" : '';
    throw new UserError(`${end.message}${insist}. Nothing was adopted.`);
  }
  if (options.json === true)
    return printJson({ feed, key, job_id: id, score: end.score, adopted: true, reasons: end.reasons });
  return printLine(
    `Job ${id} adopted for posting ${key} of feed ${feed} (${end.reasons.join(', ')}).${nextOf(subject.policy)}`,
  );
}

// Adopts the site jobs that a search found for a feed, where their posting is certain. Asks for confirmation first.

export interface AdoptFoundOptions extends CommonOptions {
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
  const site = siteOfFeed(app, feed);
  await expectNotMoved(app, site);
  const of = foundJobsScope(feed, site);
  const found = await readFoundJobs(app.db, of);
  const { sure, left: ambiguous } = found;
  if (sure.length > 0 && options.yes !== true) await askToAdopt(feed, sure.length, ambiguous.length, options);
  const run = sure.length === 0 ? undefined : await adoptFound(app, of, found.mark, options, signal);
  const isDone = run === undefined || run.bulk.state === 'done';
  if (!isDone && signal.aborted) {
    process.exitCode = ExitStatus.failed;
    return;
  }
  const acted = run?.acted ?? [];
  const left = [...ambiguous, ...(run === undefined ? [] : await refusedOf(app, run, found))];
  const message = describe(acted.length, left.length);
  const act = { action: 'settle', entries: [], feeds: [{ feed, done: acted.length, message }], acted };
  const status = await sendAndTell(app, act, {
    json: options.json === true,
    send: options.send,
    write: commandWriter(options.config),
  });
  await reportLeft(feed, left, options);
  const progress = isDone ? ExitStatus.done : ExitStatus.failed;
  process.exitCode = worstStatus([status, progress, left.length > 0 ? ExitStatus.review : ExitStatus.done]);
}

async function askToAdopt(feed: FeedName, sure: number, left: number, options: AdoptFoundOptions): Promise<void> {
  const lines = [
    `This adopts ${plural(sure, 'job')} on the site for feed ${feed}: each shows exactly the reference of a posting, or else ` +
      'everything that was found to be the same, and no other posting or job does. Their other fields are set to the values in the feed.',
    ...(left === 0 ? [] : [`${plural(left, 'found job')} ${left === 1 ? 'is' : 'are'} left: decide one by one.`]),
  ];
  const write = commandWriter(options.config);
  const ways = [
    `\n  see them:       ${write(['review', 'list', feed])}`,
    `\n  adopt them:     ${write(['review', 'settle', feed, '--found', '--yes'])}`,
  ];
  await expectAgreement(lines, 'Adopt them?', 'Nothing was adopted.', ways.join(''));
}

/** Adopts exactly those that the person has seen. */
async function adoptFound(
  app: App,
  of: FoundJobsScope,
  mark: string,
  options: AdoptFoundOptions,
  signal: AbortSignal,
): Promise<BulkRun> {
  const write = commandWriter(options.config);
  const start = await startAdoptingFound(app.db, app.config, { of, mark, actor: actorName(options.as) });
  if (start.kind === 'refused') throw new UserError(say(start.message, write));
  return runShowing(app, start.bulk.id, { write, signal });
}

/** The certain ones that were left alone, in their order. */
async function refusedOf({ db }: App, { bulk }: BulkRun, { sure }: FoundJobsOfFeed): Promise<LeftEntry[]> {
  const reasons = new Map((await leftAlone(db, bulk.id, sure.length)).map(({ entry, why }) => [entry, why]));
  return sure.flatMap(({ entry, key, siteJobId }) => {
    const message = reasons.get(entry);
    return message === undefined ? [] : [{ entry, key, siteJobId, message }];
  });
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

// Adopts jobs for a command, which shows its progress on one line.

export interface AdoptingCommand extends Adopting {
  readonly progress: ProgressLine;
}

/** Runs `work` while no other process pulls the feed or adopts jobs for it. */
export async function runAdopting(
  app: App,
  name: string,
  signal: AbortSignal,
  work: (adopting: AdoptingCommand) => Promise<void>,
): Promise<void> {
  const progress = startProgressLine();
  try {
    await withAdopting(app, name, { signal, onProgress: (text) => progress.show(text) }, (adopting) =>
      work({ ...adopting, progress }),
    );
  } finally {
    progress.clear();
  }
}
