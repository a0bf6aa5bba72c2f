// `jobmirror recover`: rebuilds the mappings of a feed from the references on its site.
import { Command } from 'commander';
import { plural, tell } from '../../plan/message.ts';
import { updatesJobs } from '../../plan/policy.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import {
  findLost,
  type Recovered,
  type RecoverSubject,
  type Recovery,
  recordFound,
  type Stray,
} from '../../review/jobs/recover-jobs.ts';
import type { Finding, VerifySubject } from '../../review/jobs/verify-site.ts';
import type { App } from '../../runtime/app.ts';
import { readOtherFeeds } from '../../runtime/open-adopting.ts';
import { verifySubjectOf } from '../../runtime/schedule/scheduled-verify.ts';
import { ExitStatus, UserError } from '../../runtime/stop-signal.ts';
import { addressOf } from '../../site/http/job-address.ts';
import { noteRecovered } from '../../store/backup/restore-backup.ts';
import { isRekeySuspected } from '../../store/change/rekey/read-rekey.ts';
import { searchFeedAgain } from '../../store/change/site-search.ts';
import { JobMatching } from '../../store/mapping/job-matching.ts';
import { Verification } from '../../store/mapping/verification.ts';
import { keptReference } from '../../store/site/kept-values.ts';
import { askWhether, oneLine, printJson, printLine } from '../../telemetry/print.ts';
import { formatTime } from '../../telemetry/times.ts';
import { ACTOR, actorName, CONFIG, type CommonOptions, commandWriter } from '../adapter/command-line.ts';
import { withApp } from '../adapter/with-app.ts';
import { type AdoptingCommand, runAdopting } from '../adopt-mappings.ts';
import { findingPrinter, itsTitle, printMatches } from '../output/describe-finding.ts';

export function recoverCommand(): Command {
  return new Command('recover')
    .argument('<feed>', 'the feed')
    .option(...CONFIG)
    .option('--yes', 'do it without asking')
    .option('--leave-strays', 'jobs that no posting has may stay on the site, and status does not name them')
    .option(...ACTOR)
    .option('--json', 'print one JSON object per posting or job, then one with the counts')
    .addHelpText(
      'after',
      '\nReads the feed and the whole list of its site. Nothing is sent but requests to show jobs: the next sync sets what differs.\n' +
        'Jobs whose reference two jobs or two postings share, and jobs of other users and feeds, are left to a person.',
    )
    .action((name: string, options: RecoverOptions) =>
      withApp(options, (app, signal) => recover(app, name, options, signal)),
    );
}

interface RecoverOptions extends CommonOptions {
  readonly yes?: boolean;
  /** The jobs without a posting stay on the site, and nobody is asked about them any more. */
  readonly leaveStrays?: boolean;
}

/** Lines of one kind that are printed, unless as JSON. */
const MOST_SHOWN = 50;
const MOST_OF_TITLE = 60;

/** @throws UserError if the site or the feed could not be read, or nobody confirms; then nothing was changed. */
function recover(app: App, name: string, options: RecoverOptions, signal: AbortSignal): Promise<void> {
  return runAdopting(app, name, signal, async (adopting) => {
    const { site, feed } = adopting;
    if (site.options.listPath === undefined)
      throw new UserError(
        `site ${site.name} has no list_path, so its jobs cannot be read; set it, or see: mappings adopt ${feed}, and mappings import ` +
          'FILE. Nothing was changed',
      );
    const matching = await JobMatching.open(app.db);
    const verification = await Verification.open(app.db, site.name, [feed]);
    try {
      await recoverWith({ app, adopting, options }, matching, verification);
    } finally {
      await verification.close();
      await matching.close();
    }
  });
}

interface Recovering {
  readonly app: App;
  readonly adopting: AdoptingCommand;
  readonly options: RecoverOptions;
}

async function recoverWith(recovering: Recovering, matching: JobMatching, verification: Verification): Promise<void> {
  const { app, adopting, options } = recovering;
  const jobs = (await verification.countJobs()).get(adopting.feed) ?? 0;
  const { name, options: site } = adopting.site;
  const { referenceField } = site;
  const kept = await keptReference(app.db, { name, address: addressOf(site), referenceField });
  const subject: RecoverSubject = {
    adopting: {
      ...adopting.subject,
      // On a site that shows none, everything else has to tell.
      byReference: kept !== undefined,
      readOthers: (take) => readOtherFeeds(app, adopting, take),
    },
    verifying: jobs === 0 ? undefined : verifyingOf(recovering),
    matching,
    verification,
  };
  const show = findingPrinter(options.json === true, () => adopting.progress.clear());
  const found = await findLost(subject, show);
  if (found.kind === 'failed') throw new UserError(`${tell(found.message, app.writeAction)}. Nothing was changed`);
  adopting.progress.clear();
  // A program is told each match with what became of it.
  const recordsFirst = options.json === true && options.yes === true;
  if (!recordsFirst) await printFound(recovering, found, matching, show);
  const todo = found.matches.sure + found.replaced.length + toMark(recovering, found);
  if (todo === 0) {
    if (recordsFirst) await printFound(recovering, found, matching, show);
    return tellEnd(recovering, found, undefined);
  }
  if (options.yes !== true && !(await isConfirmed(recovering, found))) return tellEnd(recovering, found, undefined);
  const done = await recordFound(subject, found, { actor: actorName(options.as), checkLock: adopting.checkLock });
  adopting.progress.clear();
  if (recordsFirst) await printFound(recovering, found, matching, show, done);
  // A job that could not be told must not be made a second time by the next sync.
  if (found.matches.unsure + done.refused.length > 0) await searchFeedAgain(app.db, adopting.feed);
  await tellEnd(recovering, found, done);
}

function verifyingOf({ app, adopting }: Recovering): Omit<VerifySubject, 'onFinding'> {
  const { setup, site, subject, client, progress } = adopting;
  const { rateLimiter, signal } = subject;
  return {
    ...verifySubjectOf(app.db, site, [setup], { client, rateLimiter, signal }),
    selection: { kind: 'list' },
    keepsDrift: updatesJobs(setup.policy),
    bindsJobs: true,
    onProgress: (at) =>
      progress.show(
        at.what === 'listed'
          ? `comparing the list of site ${site.name}: ${at.done} jobs`
          : `asking site ${site.name}: ${at.done} of ${at.all} jobs`,
      ),
  };
}

async function printFound(
  { adopting, options: { json } }: Recovering,
  { replaced, second, strays, unclear }: Recovery,
  matching: JobMatching,
  show: (finding: Finding) => Promise<void>,
  done?: Recovered,
): Promise<void> {
  const { feed } = adopting;
  for (const [at, { key, from, to }] of replaced.entries()) {
    if (json === true) await printJson({ feed, key, job_id: to, former_job_id: from, finding: 'replaced' });
    else if (at < MOST_SHOWN)
      await printLine(`replaced ${feed} ${key} - job ${to}: it shows the reference, not job ${from}`);
    else if (at === MOST_SHOWN) await printLine('… further replaced jobs (--json prints all)');
  }
  for (const finding of [...second, ...unclear]) await show(finding);
  for (const [at, stray] of strays.entries()) {
    if (json === true) await printJson(strayJson(feed, stray));
    else if (at < MOST_SHOWN) await printLine(describeStray(stray));
    else if (at === MOST_SHOWN) await printLine('… further jobs without a posting (--json prints all)');
  }
  const refused = new Map(done?.refused.map(({ key, message }) => [key, message]));
  await printMatches(
    matching,
    json === true,
    (line) => {
      if (line.verdict === 'unmatched') return undefined;
      const isRecorded = done !== undefined && line.verdict === 'sure';
      const message = isRecorded ? refused.get(line.key) : undefined;
      return { adopted: isRecorded && message === undefined, message };
    },
    { feed, finding: 'unknown' },
  );
}

const strayJson = (feed: FeedName, { siteJobId, url, createdAt, reference, title }: Stray) => ({
  feed,
  finding: 'stray',
  job_id: siteJobId,
  job_url: url ?? null,
  reference: reference ?? null,
  title: title ?? null,
  created_at: createdAt ?? null,
});

function describeStray({ siteJobId, createdAt, reference, title }: Stray): string {
  const its = reference === undefined ? '' : `, reference ${oneLine(reference, MOST_OF_TITLE)}`;
  const made = createdAt === undefined ? '' : `, made at ${formatTime(createdAt)}`;
  return `stray - job ${siteJobId}${itsTitle(title)}${its}${made}: no posting has it`;
}

/** Asks only at a terminal. */
async function isConfirmed(recovering: Recovering, found: Recovery): Promise<boolean> {
  if (recovering.options.json === true) return false;
  return (await askWhether(`${describeFound(recovering, found)}\nRecord it?`)) === true;
}

/** How many jobs are to be set again: none if the feed's policy never does. */
const toMark = ({ adopting: { setup } }: Recovering, { differing }: Recovery): number =>
  updatesJobs(setup.policy) ? differing : 0;

const describeFound = (recovering: Recovering, found: Recovery): string =>
  `Feed ${recovering.adopting.feed}: ${plural(found.matches.sure, 'unknown job')} to map, ` +
  `${found.replaced.length} to replace jobs that are gone, ${plural(toMark(recovering, found), 'job')} to be set again. ` +
  'Nothing is sent before the next sync.';

async function tellEnd(recovering: Recovering, found: Recovery, done: Recovered | undefined): Promise<void> {
  const { adopting, options } = recovering;
  const { feed, setup } = adopting;
  const { matches, replaced, differing, second, strays, unclear } = found;
  const refused = done?.refused ?? [];
  const open = done === undefined ? matches.sure + replaced.length + toMark(recovering, found) : refused.length;
  const sinceBackup = strays.filter(({ isSinceBackup }) => isSinceBackup).length;
  const askedAbout = options.leaveStrays === true ? 0 : sinceBackup;
  const left = open + matches.unsure + second.length + askedAbout + unclear.length;
  const leftBy = options.leaveStrays === true ? actorName(options.as) : undefined;
  await noteRecovered(recovering.app.db, feed, sinceBackup, leftBy);
  process.exitCode = left > 0 ? ExitStatus.review : ExitStatus.done;
  if (options.json === true) {
    return printJson({
      feed,
      unknown: matches.sure,
      unsure: matches.unsure,
      without_job: matches.unmatched,
      replaced: replaced.length,
      differing,
      second: second.length,
      strays: strays.length,
      unclear: unclear.length,
      recorded: done === undefined ? 0 : done.bound + done.replaced + done.marked,
      refused: refused.map(({ key, message }) => ({ key, message })),
    });
  }
  const write = commandWriter(options.config);
  for (const { key, message } of refused.slice(0, MOST_SHOWN)) await printLine(`left ${key}: ${message}`);
  if (done !== undefined)
    await printLine(
      `${plural(done.bound, 'job')} mapped, ${done.replaced} replaced, ${done.marked} marked to be set again; ` +
        `${plural(matches.unmatched, 'posting')} without a job.${updatesJobs(setup.policy) ? ' The next sync sends what differs.' : ''}`,
    );
  else if (open > 0)
    await printLine(
      `${describeFound(recovering, found)}\nNothing was changed. Record it: ${write(['recover', feed, '--yes'])}`,
    );
  else if (left + strays.length === 0)
    await printLine(`The database knows all jobs of feed ${feed} that the site has. Nothing was changed.`);
  if (differing > 0 && !updatesJobs(setup.policy))
    await printLine(
      `policy ${setup.policy} changes no job: ${plural(differing, 'job')} that ${differing === 1 ? 'is' : 'are'} gone or differ${differing === 1 ? 's' : ''} stay${differing === 1 ? 's' : ''} so.`,
    );
  if (matches.unsure > 0)
    await printLine(
      `${plural(matches.unsure, 'job')} may belong to postings: ${write(['mappings', 'adopt', feed, '--job', 'JOBID', '--posting', 'KEY'])}`,
    );
  if (second.length > 0)
    await printLine(
      `${plural(second.length, 'other job')} with the reference of a posting that has its own job: they were made by hand, or another ` +
        `installation mirrors this feed into site ${adopting.site.name}. Only one installation may: stop the other, and delete its jobs there.`,
    );
  const others = unclear.filter(({ finding }) => finding === 'foreign').length;
  if (others > 0) {
    const isAsked = await isRekeySuspected(recovering.app.db, feed);
    await printLine(
      `${plural(others, 'job')} of another posting, as the site shows them: ${
        isAsked
          ? `the keys of the feed seem to have changed. Say first which postings are the same: ${write(['feeds', 'rekey', feed])}`
          : `if the keys of the feed have changed meanwhile, the next sync asks about that: ${write(['sync', feed])}`
      }`,
    );
  }
  if (strays.length > 0)
    await printLine(
      `${plural(strays.length, 'job')} of site ${adopting.site.name} that no posting of the feed has: if ${strays.length === 1 ? 'it was' : 'they were'} ` +
        `made for the feed before the database was lost or restored, the posting${strays.length === 1 ? ' has' : 's have'} left it since, and ` +
        'nothing here will end them. End them on the site; those that are not of this feed may stay (--leave-strays).',
    );
}
