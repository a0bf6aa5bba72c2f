// Finds the ID of a job that a person named by another one: under two IDs, a job could get two postings.
import type { SiteJobId } from '../posting/identifiers.ts';
import { areOfTwoJobs } from './contradiction.ts';
import type { SiteJob } from './exchange.ts';

/**
 * The ID to use for the job that the site showed for this one; `undefined`: this one. Some sites put an internal number into a job's
 * XML and find no job by it, so the site is asked.
 * @param show fetches a job; throws if the site gave no clear answer
 */
export async function idInstead(
  id: SiteJobId,
  { ownId }: SiteJob,
  show: (id: SiteJobId) => Promise<SiteJob | undefined>,
): Promise<SiteJobId | undefined> {
  if (ownId === undefined || areOfTwoJobs(id, ownId)) return ownId;
  return (await show(ownId)) === undefined ? undefined : ownId;
}

export const describeIdInstead = (id: SiteJobId, instead: SiteJobId): string =>
  `the site shows job ${instead} for the ID ${id}: use the ID ${instead}`;
