// Matches the jobs of a site to the postings of a feed for a command, prints what it finds, and maps what is confirmed.
import { tell } from '../../plan/message.ts';
import { plural } from '../../plan/plural.ts';
import { updatesJobs } from '../../plan/policy.ts';
import { postingKey, siteJobId } from '../../posting/identifiers.ts';
import { type AdoptOneEnd, adoptOne, adoptSure } from '../../review/adopt-sure.ts';
import { matchJobs } from '../../review/match-jobs.ts';
import { matchNotes } from '../../runtime/adopting/open-adopting.ts';
import type { App } from '../../runtime/app.ts';
import { ExitStatus, UserError } from '../../runtime/exit-status.ts';
import { searchFeedAgain } from '../../store/change/site-search.ts';
import { JobMatching, type MatchCounts } from '../../store/mapping/job-matching.ts';
import { printJson, printLine, printNotice } from '../../telemetry/print.ts';
import { actorName } from '../adapter/actor.ts';
import { commandWriter } from '../adapter/command-line.ts';
import { printMatches } from '../output/describe-match.ts';
import { type AdoptingCommand, runAdopting } from './adopting.ts';

export interface AdoptOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly as?: string;
  readonly sure?: boolean;
  readonly job?: string;
  readonly posting?: string;
  readonly anyway?: boolean;
}

export function adopt(app: App, name: string, options: AdoptOptions, signal: AbortSignal): Promise<void> {
  return runAdopting(app, name, signal, (adopting) =>
    options.job === undefined ? adoptMany(app, adopting, options) : adoptOneNamed(adopting, options),
  );
}

async function adoptMany(app: App, adopting: AdoptingCommand, options: AdoptOptions): Promise<void> {
  const { subject, site, progress } = adopting;
  if (site.options.listPath === undefined)
    throw new UserError(
      `site ${site.name} has no list_path, so its jobs cannot be read; set it, or name each job with --job and --posting, ` +
        'or import which posting is which job with: mappings import FILE',
    );
  const matching = await JobMatching.open(app.db);
  try {
    const end = await matchJobs(matching, subject);
    if (end.kind === 'failed') throw new UserError(`${tell(end.message, app.writeAction)}. Nothing was adopted.`);
    const counts = await matching.count();
    progress.clear();
    if (options.json !== true) for (const note of await matchNotes(app, adopting, end.shortfalls)) printNotice(note);
    if (options.sure === true) await printAdopted(adopting, { matching, since: end.since, counts }, options);
    else await printFound(matching, adopting, counts, options);
  } finally {
    await matching.close();
  }
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
      (adopted > 0 ? nextOf(subject) : ''),
  );
  if (left > 0) {
    const words = ['mappings', 'adopt', feed, '--job', 'JOBID', '--posting', 'KEY'];
    await printLine(`Adopt one: ${commandWriter(options.config)(words)}`);
  }
}

const nextOf = ({ policy }: AdoptingCommand['subject']): string =>
  updatesJobs(policy) ? ' The next sync sends what differs.' : ` Policy ${policy} leaves what differs as it is.`;

const describeCounts = ({ sure, unsure, unmatched, jobs }: MatchCounts): string =>
  `${sure} sure, ${unsure} unsure, ${unmatched} unmatched; ${plural(jobs, 'other job')} on the site without a posting. Nothing was changed.`;

async function adoptOneNamed(adopting: AdoptingCommand, options: AdoptOptions): Promise<void> {
  const { subject, feed, progress } = adopting;
  const key = postingKey(options.posting ?? '');
  const id = siteJobId(options.job ?? '');
  let end: AdoptOneEnd;
  try {
    end = await adoptOne(subject, {
      key,
      siteJobId: id,
      anyway: options.anyway === true,
      actor: actorName(options.as),
    });
  } finally {
    progress.clear();
  }
  if (end.kind === 'refused') {
    const insist = end.mayInsist ? "; if it is this posting's job, add --anyway" : '';
    throw new UserError(`${end.message}${insist}. Nothing was adopted.`);
  }
  if (options.json === true)
    return printJson({ feed, key, job_id: id, score: end.score, adopted: true, reasons: end.reasons });
  return printLine(
    `Job ${id} adopted for posting ${key} of feed ${feed} (${end.reasons.join(', ')}).${nextOf(subject)}`,
  );
}
