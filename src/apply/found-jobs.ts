// While a site's list is read, collects the jobs that no posting in this database accounts for.
import { isRewriting } from '../plan/observe-values.ts';
import { compareReferences, fieldOf } from '../plan/same-value.ts';
import type { SiteJobId } from '../posting/identifiers.ts';
import { type SiteJob, toCompare } from '../site/exchange.ts';
import { databaseTime } from '../store/site/site-search.ts';
import { type FoundJob, keepFound, ownReferences } from '../store/site/unowned-jobs.ts';
import { learntRewrites } from '../store/site/value-rewrites.ts';
import type { SiteContext } from './site-context.ts';

const KEPT_AT_ONCE = 1_000;
const MOST_AGE_MS = 86_400_000;

export interface FoundJobs {
  /** How many jobs were taken. */
  readonly read: number;
  /** How many of those jobs showed a reference. */
  readonly referenced: number;
  /** When this started, by the database's clock. */
  readonly since: Date;
  /** Takes a job of the list. */
  readonly take: (siteJob: SiteJob) => void;
  /** Stores the jobs taken since the last call; call it after each page. */
  keep(): Promise<void>;
}

interface FoundJobsOptions {
  /** Whether the list is read for this purpose, so mapped jobs and titles are compared as well. */
  readonly isSearch: boolean;
  /** How old the list may be; jobs deleted within that time do not count as found. */
  readonly maxAgeMs?: number;
}

export async function foundJobs(
  { db, site }: SiteContext,
  referenceField: string,
  { isSearch, maxAgeMs = 0 }: FoundJobsOptions,
): Promise<FoundJobs> {
  const since = new Date((await databaseTime(db)).getTime() - Math.min(MOST_AGE_MS, Math.max(0, maxAgeMs)));
  const reading = { site, referenceField, since, isSearch };
  const learnt = await learntRewrites(db, site);
  let waiting: FoundJob[] = [];
  let read = 0;
  let referenced = 0;

  /** Jobs whose reference is not their posting's: the site reused the ID, and this database did not know. */
  async function contradicting(jobs: readonly FoundJob[]): Promise<ReadonlySet<SiteJobId>> {
    const ids = jobs.map(({ siteJobId }) => siteJobId);
    const own = await ownReferences(db, reading, ids);
    const others = jobs.filter(({ siteJobId, reference: shown }) => {
      const sent = own.get(siteJobId);
      if (sent === undefined || !shown?.trim() || compareReferences(sent, shown) !== 'other') return false;
      return !isRewriting(learnt, referenceField, sent, shown);
    });
    return new Set(others.map(({ siteJobId }) => siteJobId));
  }

  return {
    get read() {
      return read;
    },
    get referenced() {
      return referenced;
    },
    since: reading.since,
    take(siteJob) {
      read++;
      const [kept, reference] = [siteJob, toCompare(siteJob)].map(({ fields }) => fieldOf(fields, referenceField));
      if (reference?.trim()) referenced++;
      // Outside a search only references count; titles are not compared.
      else if (!isSearch) return;
      const { siteJobId, fields } = siteJob;
      const title = isSearch ? fieldOf(fields, 'title') : undefined;
      waiting.push({ siteJobId, reference, isSecret: reference !== kept, title });
    },
    async keep() {
      const taken = waiting;
      waiting = [];
      for (let at = 0; at < taken.length; at += KEPT_AT_ONCE) {
        const jobs = taken.slice(at, at + KEPT_AT_ONCE);
        await keepFound(db, reading, jobs, isSearch ? await contradicting(jobs) : undefined);
      }
    },
  };
}
