// Recognises a job that a mapping names by another form of its ID: sites return `/jobs/12-nurse`, and list job 12.
import type { SiteJobId, SiteName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';
import { namesOfSite } from '../site/known-address.ts';

/** SQL: the number in an ID with a title; null if it is no such ID. */
export const numberOfTitled = (id: string): string => `substring(${id} from '^([0-9]+)-[a-z]')`;

/** The posting that has the job under an ID with its title; reads all mappings of the site. */
export async function ownerByTitledId(db: Queryable, site: SiteName, id: SiteJobId): Promise<string | undefined> {
  const [row] = await db.query<{ owner: string }>(
    `select 'job ' || $2::text || ' belongs, as ' || m.site_job_id || ', to posting ' || m.key || ' of feed ' || m.feed as owner
     from mapping m where m.site = any($1::text[]) and ${numberOfTitled('m.site_job_id')} = $2 limit 1`,
    [await namesOfSite(db, site), id],
  );
  return row?.owner;
}
