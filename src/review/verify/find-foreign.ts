// Finds other jobs with the references of our postings: duplicates made by hand, or by another installation.
import type { SiteJob } from '../../site/exchange.ts';
import type { ForeignJob } from '../../store/mapping/verification.ts';
import type { Verifying } from './verifying.ts';

/** Asks for each such job of the list, as lists may be outdated. */
export async function findForeign(verifying: Verifying, referenceField: string): Promise<void> {
  const { verification, subject, countsOf } = verifying;
  for await (const { ownJobId, ...job } of await verification.foreignJobs(referenceField)) {
    subject.signal.throwIfAborted();
    const counts = countsOf(job.feed);
    try {
      if (!(await isForeign(verifying, { ownJobId, ...job }))) continue;
    } catch {
      subject.signal.throwIfAborted();
      counts.unasked++;
      continue;
    }
    counts.foreign++;
    if (subject.keepsDrift) await verification.dropGone(job);
    const own = ownJobId === undefined ? 'which has no job of its own' : `whose own job is ${ownJobId}`;
    const message = `another job shows the reference of the posting, ${own}`;
    await subject.onFinding({ ...job, finding: 'foreign', fields: {}, message, ownJobId: ownJobId ?? null });
  }
}

/** Whether the site has the job, and it is not one of ours under another ID: many sites also find job 12 as `12-nurse`. */
async function isForeign({ verification, subject }: Verifying, job: ForeignJob): Promise<boolean> {
  const shown = await subject.ask(job.siteJobId);
  if (shown === undefined) return false;
  for (const id of new Set([shown.siteJobId, idOf(shown)])) if (await verification.isOwned(id)) return false;
  const own = job.ownJobId === undefined ? undefined : await subject.ask(job.ownJobId);
  return own === undefined || idOf(own) !== idOf(shown);
}

const idOf = ({ siteJobId, ownId = siteJobId }: SiteJob) => ownId;
