// Finds the job of a posting by key, job ID or title, and lists by key the postings that have a job, or whose job has ended.
import type { FeedName, PostingKey, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import type { ChangeState } from '../change/life-cycle.ts';
import type { Database, Queryable } from '../postgres/database.ts';
import { HAS_ENDED } from '../pull/posting-expiry.ts';
import { postingsTitled } from './titled-postings.ts';

/** A posting with what is on the site, and what is still to be sent. */
export interface JobOfPosting {
  readonly feed: FeedName;
  readonly key: PostingKey;
  readonly site: SiteName;
  /** Null: it has no job yet. */
  readonly siteJobId: SiteJobId | null;
  readonly url: string | null;
  /** As the site last accepted it. */
  readonly title: string | null;
  /** Of the open change; null: the site has what the feed has. `expired`: its job has ended. */
  readonly state: ChangeState | 'expired' | null;
}

/** A place in the list: the posting after which it goes on. */
export interface JobPlace {
  readonly feed: string;
  readonly key: string;
}

const COLUMNS = `p.feed, p.key, p.site, p.site_job_id as "siteJobId", p.site_job_url as url,
  coalesce(d.fields, c.fields)->>'title' as title,
  coalesce(c.state, case when p.site_job_id is null then 'expired' end) as state`;
const JOINS = `left join document d on d.feed = p.feed and d.key = p.key
  left join change c on c.feed = p.feed and c.key = p.key`;
/** Postings whose job has ended. */
const ENDED = `select e.feed, e.key, f.site, null as site_job_id, null as site_job_url
  from posting_expiry e join feed_state f on f.feed = e.feed where ${HAS_ENDED}`;
/** A site has used few job IDs twice, and a key is in few feeds. */
const MOST_EXACT = 20;

/** Postings of exactly this key, and the postings whose job has this ID. */
export const jobsNamed = (db: Queryable, name: string, feed: FeedName | undefined): Promise<JobOfPosting[]> =>
  db.query<JobOfPosting & Record<string, unknown>>(
    `select ${COLUMNS} from (
       select m.feed, m.key, m.site, m.site_job_id, m.site_job_url from mapping m
         where m.feed = any(array(select feed from feed_state)) and m.key = $1
       union select m.feed, m.key, m.site, m.site_job_id, m.site_job_url from mapping m
         where m.site = any(array(select site from feed_state)) and m.site_job_id = $1
       union select u.feed, u.key, u.site, null, null from change u
         where u.feed = any(array(select feed from feed_state)) and u.key = $1
           and not exists (select from mapping m where m.feed = u.feed and m.key = u.key)
       union ${ENDED} and e.key = $1) p ${JOINS}
     where $2::text is null or p.feed = $2 order by p.feed, p.key limit ${MOST_EXACT}`,
    [name, feed ?? null],
  );

/** At most so many postings with such a title, by title, then by feed and key; see {@link postingsTitled}. */
export async function jobsTitled(
  db: Database,
  text: string,
  feed: FeedName | undefined,
  limit: number,
): Promise<JobOfPosting[]> {
  const found = await postingsTitled(db, text, feed, limit);
  return db.query<JobOfPosting & Record<string, unknown>>(
    `select ${COLUMNS} from (
       select t.feed, t.key, coalesce(m.site, o.site) as site, m.site_job_id, m.site_job_url
       from unnest($1::text[], $2::text[]) t(feed, key) left join mapping m on m.feed = t.feed and m.key = t.key
         left join change o on o.feed = t.feed and o.key = t.key
       where coalesce(m.site, o.site) is not null) p ${JOINS}
     order by title, p.feed, p.key`,
    [found.map((each) => each.feed), found.map((each) => each.key)],
  );
}

export interface JobSearchResult {
  /** Of exactly this key, or with a job of this ID. */
  readonly named: readonly JobOfPosting[];
  /** The others with such a title. */
  readonly titled: readonly JobOfPosting[];
  /** More postings have such a title. */
  readonly more: boolean;
}

/** @param limit of titles */
export async function findJobs(
  db: Database,
  text: string,
  feed: FeedName | undefined,
  limit: number,
): Promise<JobSearchResult> {
  const named = await jobsNamed(db, text, feed);
  const isNamed = (job: JobOfPosting) => named.some((each) => each.feed === job.feed && each.key === job.key);
  const titled = (await jobsTitled(db, text, feed, limit + named.length + 1)).filter((job) => !isNamed(job));
  return { named, titled: titled.slice(0, limit), more: titled.length > limit };
}

/** Postings that have a job, or whose job has ended, by feed and key. */
export const jobsAfter = (
  db: Queryable,
  feed: FeedName | undefined,
  after: JobPlace | undefined,
  limit: number,
): Promise<JobOfPosting[]> =>
  db.query<JobOfPosting & Record<string, unknown>>(
    // The inner limits keep the joins to the rows of the page.
    `select ${COLUMNS} from (
       (select m.feed, m.key, m.site, m.site_job_id, m.site_job_url from mapping m
        where (m.feed, m.key) > ($1, $2) ${feed === undefined ? '' : 'and m.feed = $1'}
        order by m.feed, m.key limit $3)
       union all
       (${ENDED} and (e.feed, e.key) > ($1, $2) ${feed === undefined ? '' : 'and e.feed = $1'}
        order by e.feed, e.key limit $3)
       order by feed, key limit $3) p ${JOINS} order by p.feed, p.key`,
    [after?.feed ?? feed ?? '', after?.key ?? '', limit],
  );

/** Postings that have a job, or whose job has ended, from this key on: the key itself, and those that begin with it, are the first. */
export const jobsFrom = (db: Queryable, feed: FeedName, key: string, limit: number): Promise<JobOfPosting[]> =>
  db.query<JobOfPosting & Record<string, unknown>>(
    `select ${COLUMNS} from (
       (select m.feed, m.key, m.site, m.site_job_id, m.site_job_url from mapping m
        where m.feed = $1 and m.key >= $2 order by m.key limit $3)
       union all
       (${ENDED} and e.feed = $1 and e.key >= $2 order by e.key limit $3)
       order by key limit $3) p ${JOINS} order by p.key`,
    [feed, key, limit],
  );
