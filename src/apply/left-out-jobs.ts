// Checks a list that was read to its end against jobs that the site has accepted: it may omit some.
import { plural } from '../plan/plural.ts';
import type { SiteJobId } from '../posting/identifiers.ts';
import type { SiteJob } from '../site/exchange.ts';
import { statesDeletion } from '../site/states-deletion.ts';
import { areFewAndOld, FEW_JOBS, recentlyAccepted, sampleOfAges } from '../store/mapping/mapping-sample.ts';
import { titledNumber } from '../store/mapping/titled-id.ts';
import type { SiteContext } from './site-context.ts';

export interface ExpectedJobs {
  /** Takes a job of the list. */
  readonly take: (siteJob: SiteJob) => void;
  /**
   * Explains that the list is incomplete or outdated, as it lacks a job that the site shows; or that it may be, as the site does not tell
   * whether it has that job, or neither lists nor shows any of those that it has accepted.
   */
  tellLeftOut(signal: AbortSignal): Promise<string | undefined>;
}

/**
 * Call it before the list is read: the site may accept further jobs meanwhile.
 *
 * | jobs that the site has accepted                                         | a job that the list lacks       |
 * | ----------------------------------------------------------------------- | ------------------------------- |
 * | one is shown, but not listed                                            | may exist: the list omits jobs  |
 * | of the last three of a day, one is listed                               | does not exist                  |
 * | none of those is listed or shown                                        | may exist: new jobs are hidden  |
 * | none in a day; of a sample, one is listed, or few are old and have expired | does not exist               |
 * | none in a day; of a sample, none is listed or shown                     | may exist: jobs are hidden      |
 */
export async function expectedJobs({ db, site, client, rateLimiter }: SiteContext): Promise<ExpectedJobs> {
  const recent = await recentlyAccepted(db, site);
  const expected = recent.length > 0 ? recent : await sampleOfAges(db, site);
  const unlisted = new Set<SiteJobId>(expected);
  const titled = new Map(expected.map((id) => [titledNumber(id), id]));
  return {
    take({ siteJobId }) {
      unlisted.delete(titled.get(siteJobId) ?? siteJobId);
    },
    async tellLeftOut(signal) {
      // Jobs of any age may have expired, as long as others are listed.
      if (recent.length === 0 && unlisted.size < expected.length) return undefined;
      for (const id of unlisted) {
        await rateLimiter.take(signal);
        try {
          const shown = await client.show(id, signal);
          if (shown === undefined || statesDeletion(shown)) continue;
        } catch (error) {
          return `The list may be incomplete or outdated: job ${id} is not in it, and checking it failed: ${(error as Error).message}`;
        }
        return `The list is incomplete or outdated: job ${id} is on the site but not in the list`;
      }
      if (expected.length === 0 || unlisted.size < expected.length) return undefined;
      if (recent.length === 0 && (await areFewAndOld(db, site, FEW_JOBS))) return undefined;
      const which = recent.length > 0 ? 'accepted last' : 'has accepted';
      return (
        `The list may leave out jobs that are new, closed or not published: the site neither lists nor shows any of ` +
        `${plural(expected.length, 'job')} that it ${which} (${expected.join(', ')})`
      );
    },
  };
}
