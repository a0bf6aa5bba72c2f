// Recognises a job that a mapping names by another form of its ID: sites return `/jobs/12-nurse`, and list job 12.
import { type SiteJobId, siteJobId } from '../../posting/identifiers.ts';

/** SQL: the number in an ID with a title; null if it is no such ID. */
export const numberOfTitled = (id: string): string => `substring(${id} from '^([0-9]+)-[a-z]')`;

/** SQL condition: both IDs name one job, the same way or one of them by its number only. */
export const areOfOneJob = (one: string, other: string): string =>
  `(${one} = ${other} or ${numberOfTitled(one)} = ${other} or ${one} = ${numberOfTitled(other)})`;

/** SQL condition: a mapping of the site has the job of this number under an ID with its title. Read from an index. */
export const isTitled = (site: string, id: string): string =>
  `exists (select from mapping m where m.site = ${site} and ${numberOfTitled('m.site_job_id')} = ${id})`;

/**
 * SQL condition: a newer mapping of the site than `mapping` has an ID with the same number, whatever its title: the site may have used the
 * number again, or two titles begin with one. Read from indexes.
 */
export const sharesNumber = (mapping: string): string =>
  `(exists (select from mapping o where o.site = ${mapping}.site and ${numberOfTitled('o.site_job_id')}
        = coalesce(${numberOfTitled(`${mapping}.site_job_id`)}, ${mapping}.site_job_id)
      and o.mapped_at >= ${mapping}.mapped_at and (o.feed, o.key) <> (${mapping}.feed, ${mapping}.key))
    or exists (select from mapping o where o.site = ${mapping}.site and o.mapped_at >= ${mapping}.mapped_at
      and o.site_job_id = ${numberOfTitled(`${mapping}.site_job_id`)}))`;

/** The number in an ID with a title; `undefined`: it is no such ID. */
export const titledNumber = (id: SiteJobId): SiteJobId | undefined => {
  const number = /^([0-9]+)-[a-z]/.exec(id)?.[1];
  return number === undefined ? undefined : siteJobId(number);
};
