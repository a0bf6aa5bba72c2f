// Checks a list that was read to its end against the jobs that the site accepted most recently: it may omit some.
import type { SiteJobId } from '../posting/identifiers.ts';
import type { SiteJob } from '../site/exchange.ts';
import { recentlyAccepted } from '../store/mapping/mapping-sample.ts';
import { titledNumber } from '../store/mapping/titled-id.ts';
import type { SiteContext } from './site-context.ts';

export interface ExpectedJobs {
  /** Takes a job of the list. */
  readonly take: (siteJob: SiteJob) => void;
  /**
   * Explains that the list is incomplete or outdated, as it lacks a job that the site shows; or that it may be, as the site does not tell
   * whether it has that job.
   */
  tellLeftOut(signal: AbortSignal): Promise<string | undefined>;
}

/** Call it before the list is read: the site may accept further jobs meanwhile. */
export async function expectedJobs({ db, site, client, rateLimiter }: SiteContext): Promise<ExpectedJobs> {
  const expected = new Set<SiteJobId>(await recentlyAccepted(db, site));
  const titled = new Map([...expected].map((id) => [titledNumber(id), id]));
  return {
    take({ siteJobId }) {
      expected.delete(titled.get(siteJobId) ?? siteJobId);
    },
    async tellLeftOut(signal) {
      for (const id of expected) {
        await rateLimiter.take(signal);
        try {
          if ((await client.show(id, signal)) === undefined) continue;
        } catch (error) {
          return `The list may be incomplete or outdated: job ${id} is not in it, and checking it failed: ${(error as Error).message}`;
        }
        return `The list is incomplete or outdated: job ${id} is on the site but not in the list`;
      }
      return undefined;
    },
  };
}
