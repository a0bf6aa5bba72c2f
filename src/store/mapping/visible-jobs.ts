// Tells which jobs of ours a site must show if they exist. At a wrong address, with another user's token, or without a show action it
// denies that any exists, and some sites hide new jobs. The one rule for requests, lists, adoptions and `verify`.
import { plural } from '../../plan/plural.ts';
import type { SiteJobId, SiteName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';
import { mayBeHidden, noteShownJobs } from '../site/new-jobs.ts';
import { trustsGone } from '../site/site-state.ts';
import { areFewAndOld, FEW_JOBS, recentlyAccepted, recentlyCreated, sampleOfAges } from './mapping-sample.ts';
import { titledNumber } from './titled-id.ts';

/** Asks a site for jobs of ours, within its rate limit. */
export interface JobAsker {
  readonly db: Queryable;
  readonly site: SiteName;
  /** `undefined`: the site does not show the job. @throws if it gives no clear answer. */
  readonly ask: (id: SiteJobId, signal: AbortSignal) => Promise<ShownJob | undefined>;
  /** Whether the list, or the jobs path, is there, and what came back. */
  readonly probe: (signal: AbortSignal) => Promise<{ readonly found: boolean; readonly message: string }>;
}

interface ShownJob {
  /** The ID that the job itself shows, if it is another one. */
  readonly ownId?: SiteJobId;
}

/** What other jobs of ours prove about the site. */
export type AddressProof =
  /** `isShown`: by a job of ours. */
  | { readonly kind: 'proven'; readonly isShown: boolean }
  | { readonly kind: 'unproven'; readonly asked: number; readonly seen: string | undefined }
  | { readonly kind: 'unknown'; readonly message: string };

export const checkFailed = (error: unknown): AddressProof => ({
  kind: 'unknown',
  message: `the job seems to be gone, but checking other jobs failed: ${(error as Error).message}`,
});

/**
 * Explains that a job which the site denies may only be hidden, whatever other jobs it shows; `undefined`: it is visible if it exists.
 * Call it before anything else proves that the job is gone.
 */
export async function tellHidden(
  { db, site }: Pick<JobAsker, 'db' | 'site'>,
  id: SiteJobId,
): Promise<string | undefined> {
  if (!(await mayBeHidden(db, site, id))) return undefined;
  return (
    `the job seems to be gone, but the site may only not show it: it has not shown job ${id} since it created it, and is not known to ` +
    'show each new job at once. Look for it on the site'
  );
}

/**
 * | other jobs of ours                     | verdict                                                              |
 * | -------------------------------------- | -------------------------------------------------------------------- |
 * | one is found                           | right address: the job was deleted, or has expired                   |
 * | older ones are found, but none of those that the site accepted last | unknown: it may hide jobs that are new or not published |
 * | we have no others                      | right address if the site's list, or its jobs path, can be read      |
 * | few, all gone, all made over a day ago | the same: they have expired                                          |
 * | more, or younger ones, all gone        | wrong address or another user's token, until a person says otherwise |
 * @param claimed the jobs that seem gone.
 */
export async function checkOthers(
  { db, site, ask, probe }: JobAsker,
  claimed: ReadonlySet<SiteJobId>,
  signal: AbortSignal,
): Promise<AddressProof> {
  if (await trustsGone(db, site)) return { kind: 'proven', isShown: false };
  const [first] = claimed;
  const asked = new Set<SiteJobId>();
  let hidden: readonly SiteJobId[] = [];
  for (const pick of [recentlyAccepted, sampleOfAges]) {
    hidden = [...asked];
    for (const siteJobId of await pick(db, site, first)) {
      if (asked.has(siteJobId) || claimed.has(siteJobId)) continue;
      asked.add(siteJobId);
      try {
        if ((await ask(siteJobId, signal)) === undefined) continue;
      } catch (error) {
        return checkFailed(error);
      }
      if (hidden.length === 0) return { kind: 'proven', isShown: true };
      const message = `the job seems to be gone, but the site may only not show it: of ${plural(hidden.length, 'job')} that it accepted last (${hidden.join(', ')}), it shows none`;
      return { kind: 'unknown', message };
    }
  }
  if (asked.size > 0 && !(await areFewAndOld(db, site, FEW_JOBS))) {
    return { kind: 'unproven', asked: asked.size, seen: undefined };
  }
  const { found, message } = await probe(signal);
  return found ? { kind: 'proven', isShown: false } : { kind: 'unproven', asked: asked.size, seen: message };
}

export interface ExpectedJobs {
  /** Takes a job of the list. */
  readonly take: (siteJob: { readonly siteJobId: SiteJobId }) => void;
  /** Notes the jobs taken since the last call; call it after each page. */
  keep(): Promise<void>;
  /**
   * Explains that the list is incomplete or outdated, as it lacks a job that the site shows; or that it may be, as the site does not tell
   * whether it has that job. Notes the jobs taken last.
   */
  tellOmitted(signal: AbortSignal): Promise<string | undefined>;
  /** The same; or explains that jobs may be hidden, as the site neither lists nor shows any of those that it has made. */
  tellLeftOut(signal: AbortSignal): Promise<string | undefined>;
}

/**
 * Call it before the list is read: the site may make further jobs meanwhile. Updates say nothing here: the site may hide jobs only until
 * somebody has looked at them.
 *
 * | jobs that the site has made                                             | a job that the list lacks       |
 * | ----------------------------------------------------------------------- | ------------------------------- |
 * | one is shown, but not listed                                            | may exist: the list omits jobs  |
 * | of the last three of a day, one is listed                               | does not exist                  |
 * | none of those is listed or shown                                        | may exist: new jobs are hidden  |
 * | none in a day; of a sample, one is listed, or few are old and have expired | does not exist               |
 * | none in a day; of a sample, none is listed or shown                     | may exist: jobs are hidden      |
 * @param isListed whether the list had this job, if the reader keeps that: a job may have two IDs.
 */
export async function expectedJobs(
  { db, site, ask }: Omit<JobAsker, 'probe'>,
  isListed: (id: SiteJobId) => Promise<boolean> = async () => false,
): Promise<ExpectedJobs> {
  const recent = await recentlyCreated(db, site);
  const expected = recent.length > 0 ? recent : await sampleOfAges(db, site);
  const unlisted = new Set<SiteJobId>(expected);
  const titled = new Map(expected.map((id) => [titledNumber(id), id]));
  let taken: SiteJobId[] = [];

  async function keep(): Promise<void> {
    const ids = taken;
    taken = [];
    await noteShownJobs(db, site, ids);
  }

  async function tellOmitted(signal: AbortSignal): Promise<string | undefined> {
    await keep();
    // Jobs of any age may have expired, as long as others are listed.
    if (recent.length === 0 && unlisted.size < expected.length) return undefined;
    for (const id of unlisted) {
      try {
        const shown = await ask(id, signal);
        if (shown === undefined || (shown.ownId !== undefined && (await isListed(shown.ownId)))) continue;
      } catch (error) {
        return `The list may be incomplete or outdated: job ${id} is not in it, and checking it failed: ${(error as Error).message}`;
      }
      await noteShownJobs(db, site, [id]);
      return `The list is incomplete or outdated: job ${id} is on the site but not in the list`;
    }
    return undefined;
  }

  return {
    take({ siteJobId }) {
      taken.push(siteJobId);
      unlisted.delete(titled.get(siteJobId) ?? siteJobId);
    },
    keep,
    tellOmitted,
    async tellLeftOut(signal) {
      const omitted = await tellOmitted(signal);
      if (omitted !== undefined) return omitted;
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
