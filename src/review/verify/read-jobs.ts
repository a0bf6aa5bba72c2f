// Reads the list of a site and finds the jobs that must be asked for one by one: those that it does not show as the site accepted
// them, and those that it does not show at all.
import { fieldOf } from '../../plan/same-value.ts';
import { type SiteJob, toCompare } from '../../site/exchange.ts';
import type { MappedJob } from '../../store/mapping/verification.ts';
import { noteShownJobs } from '../../store/mapping/visible-jobs.ts';
import { countHidden } from './finding.ts';
import { judgeJob } from './judge-job.ts';
import type { Verifying } from './verifying.ts';

/** Jobs whose texts are held in memory before they are compared. */
const COMPARED_AT_ONCE = 200;

/**
 * Reads each page once, which is enough to compare: no job counts as changed or gone by the list alone. To make a job that is gone
 * again, the list must be proven whole, so that it shows whether another job has the reference of its posting. Returns why the list
 * was not read to its end; `undefined`: it was.
 */
export async function readJobs(verifying: Verifying): Promise<string | undefined> {
  const { subject } = verifying;
  let waiting: SiteJob[] = [];
  let done = 0;
  const compare = async () => {
    const jobs = waiting;
    waiting = [];
    done += jobs.length;
    subject.onProgress?.({ what: 'listed', done });
    await compareListed(verifying, jobs);
  };
  const take = (siteJob: SiteJob): void | Promise<void> => {
    waiting.push(siteJob);
    return waiting.length < COMPARED_AT_ONCE ? undefined : compare();
  };
  const beforePage = async (stop?: AbortSignal) => {
    await compare();
    await subject.rateLimiter.take(stop);
  };
  const listing = await subject.client.list(take, subject.signal, beforePage, 0, !subject.keepsDrift);
  subject.signal.throwIfAborted();
  await compare();
  return listing.kind === 'listed' ? undefined : listing.message;
}

async function compareListed(
  { verification, subject, rules, progress, countsOf }: Verifying,
  jobs: readonly SiteJob[],
) {
  if (jobs.length === 0) return;
  await noteShownJobs(
    subject.db,
    subject.site,
    jobs.map(({ siteJobId }) => siteJobId),
  );
  const { referenceField } = subject;
  await verification.addListed(
    jobs.map((siteJob) => ({ siteJobId: siteJob.siteJobId, reference: openReference(siteJob, referenceField) })),
  );
  const accepted = await verification.acceptedOf(jobs.map(({ siteJobId }) => siteJobId));
  const differing: (MappedJob & { readonly differing: readonly string[] })[] = [];
  for (const siteJob of jobs) {
    const job = accepted.get(siteJob.siteJobId);
    if (job === undefined) continue;
    const judged = judgeJob(job.accepted, siteJob, false, { ...rules, createOnly: subject.createOnly.get(job.feed) });
    const counts = countsOf(job.feed);
    const changed = judged.kind === 'compared' ? Object.keys(judged.changed) : [];
    if (judged.kind === 'unknown') counts.unknown++;
    else if (judged.kind === 'compared' && changed.length === 0 && !(subject.makesKnown && judged.unknown.length > 0)) {
      counts.same++;
      progress.seen++;
      countHidden(counts, judged.hidden);
    } else differing.push({ ...job, differing: changed });
  }
  await verification.addDiffering(differing);
}

/** A reference that contains the token is not stored. */
function openReference(siteJob: SiteJob, referenceField: string | undefined): string | undefined {
  if (referenceField === undefined) return undefined;
  const reference = fieldOf(siteJob.fields, referenceField);
  return reference === fieldOf(toCompare(siteJob).fields, referenceField) ? reference : undefined;
}
