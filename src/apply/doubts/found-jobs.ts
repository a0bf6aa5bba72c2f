// While a site's list is read, collects the jobs that no posting in this database accounts for.
import { featuresOfJob } from '../../plan/adopt/job-features.ts';
import { isRewriting } from '../../plan/observe-values.ts';
import { compareReferences, fieldOf } from '../../plan/same-value.ts';
import type { SiteJobId } from '../../posting/identifiers.ts';
import { type SiteJob, toCompare } from '../../site/exchange.ts';
import { ownedJobIds } from '../../store/change/candidate-owners.ts';
import { databaseTime } from '../../store/change/site-search.ts';
import { learntRewrites } from '../../store/site/kept-values.ts';
import { type FoundJob, keepFound, markForeign, ownReferences } from '../../store/site/unowned-jobs.ts';
import type { SiteContext } from '../site-context.ts';
import { noteShownReference } from '../watch-site.ts';

const KEPT_AT_ONCE = 1_000;
const MOST_AGE_MS = 86_400_000;
/** If there are more, whose jobs are ours is known from as many. */
const MOST_OWNERS = 1_000;

interface FoundJobs {
  /** How many jobs were taken. */
  readonly read: number;
  /** When this started, by the database's clock. */
  readonly since: Date;
  /** Takes a job of the list. */
  readonly take: (siteJob: SiteJob) => void;
  /** Stores the jobs taken since the last call; call it after each page. */
  keep(): Promise<void>;
  /** The list was read to its end, and the last jobs were stored. */
  end(): Promise<void>;
}

interface FoundJobsOptions {
  /** Whether the list is read for this purpose, so mapped jobs and contents are compared as well. */
  readonly isSearch: boolean;
  /** How old the list may be; jobs deleted within that time do not count as found. */
  readonly maxAgeMs?: number;
}

export async function foundJobs(
  siteContext: SiteContext,
  { isSearch, maxAgeMs = 0 }: FoundJobsOptions,
): Promise<FoundJobs> {
  const { db, site } = siteContext;
  const since = new Date((await databaseTime(db)).getTime() - Math.min(MOST_AGE_MS, Math.max(0, maxAgeMs)));
  const { referenceField, places } = siteContext.policy;
  const reading = { site, referenceField, since, isSearch };
  const learnt = await learntRewrites(db, site);
  const rules = { referenceField, ...places, learnt };
  const owners = new Set<string>();
  const own = new Set<string>();
  let waiting: FoundJob[] = [];
  let areReferenced = false;
  let read = 0;

  /** Jobs whose reference is not their posting's: the site reused the ID, and this database did not know. */
  async function contradicting(jobs: readonly FoundJob[]): Promise<ReadonlySet<SiteJobId>> {
    const ids = jobs.map(({ siteJobId }) => siteJobId);
    const sentBy = await ownReferences(db, reading, ids);
    const others = jobs.filter(({ siteJobId, reference: shown }) => {
      const sent = sentBy.get(siteJobId);
      if (sent === undefined || !shown?.trim() || compareReferences(sent, shown) !== 'other') return false;
      return referenceField === undefined || !isRewriting(learnt, referenceField, sent, shown);
    });
    return new Set(others.map(({ siteJobId }) => siteJobId));
  }

  async function noteOwners(jobs: readonly FoundJob[]): Promise<void> {
    for (const { features } of jobs) if (owners.size < MOST_OWNERS) owners.add(features?.owner ?? '');
    const stated = new Map(
      jobs.flatMap(({ siteJobId, features }) => (features?.owner === undefined ? [] : [[siteJobId, features.owner]])),
    );
    const ours = stated.size === 0 ? [] : await ownedJobIds(db, site, [...stated.keys()]);
    for (const id of ours) own.add(stated.get(id) as string);
  }

  return {
    get read() {
      return read;
    },
    since: reading.since,
    take(siteJob) {
      read++;
      const [kept, shown] = [siteJob, toCompare(siteJob)].map(({ fields }) =>
        referenceField === undefined ? undefined : fieldOf(fields, referenceField),
      );
      if (shown?.trim()) areReferenced = true;
      // Outside a search only references count; contents are not compared.
      if (!isSearch && !shown?.trim()) return;
      waiting.push({
        siteJobId: siteJob.siteJobId,
        reference: shown,
        isSecret: shown !== kept,
        features: isSearch ? featuresOfJob(siteJob.fields, rules, { types: siteJob.types }) : undefined,
        holdsSecret: siteJob.revealFields !== undefined,
      });
    },
    async keep() {
      if (areReferenced && referenceField !== undefined) await noteShownReference(siteContext, referenceField);
      const taken = waiting;
      waiting = [];
      for (let at = 0; at < taken.length; at += KEPT_AT_ONCE) {
        const jobs = taken.slice(at, at + KEPT_AT_ONCE);
        if (isSearch) await noteOwners(jobs);
        await keepFound(db, reading, jobs, isSearch ? await contradicting(jobs) : undefined);
      }
    },
    async end() {
      if (isSearch) await markForeign(db, reading, { owners, own });
    },
  };
}
