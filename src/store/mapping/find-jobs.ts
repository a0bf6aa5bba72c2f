// Finds postings by words of their title, and their jobs by key, job ID or title; lists by key those that have a job, or whose job has
// ended.
import type { FeedName, PostingKey, PostingRef, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import type { ChangeState } from '../change/life-cycle.ts';
import {
  type Database,
  IS_WRITABLE,
  type Queryable,
  readNumber,
  returnsRow,
  type Stored,
  withoutNulls,
} from '../postgres/database.ts';
import { inBatches } from '../postgres/stream-rows.ts';
import { JOB_HAS_EXPIRED, joinExpiry } from '../pull/posting-expiry.ts';

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
  /** The state of the open change; null: the site has what the feed has. `expired`: its job has ended. */
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
  from posting_expiry e join feed_state f on f.feed = e.feed where ${JOB_HAS_EXPIRED}`;
/** A site has used few job IDs twice, and a key is in few feeds. */
const MOST_EXACT = 20;

/** Postings of exactly this key, and the postings whose job has this ID. */
export const jobsNamed = (db: Queryable, name: string, feed: FeedName | undefined): Promise<JobOfPosting[]> =>
  db.query<JobOfPosting>(
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
  return db.query<JobOfPosting>(
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
  /** Postings with exactly this key, or whose job has this ID. */
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
  db.query<JobOfPosting>(
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
  db.query<JobOfPosting>(
    `select ${COLUMNS} from (
       (select m.feed, m.key, m.site, m.site_job_id, m.site_job_url from mapping m
        where m.feed = $1 and m.key >= $2 order by m.key limit $3)
       union all
       (${ENDED} and e.feed = $1 and e.key >= $2 order by e.key limit $3)
       order by key limit $3) p ${JOINS} order by p.key`,
    [feed, key, limit],
  );

/**
 * Postings of which the key, or the title of a deleted job, has this text as a part, or of which words of the title begin with its words: at
 * most so many, by key.
 */
export async function postingsLike(
  db: Database,
  text: string,
  feed: FeedName,
  limit: number,
): Promise<{ readonly key: PostingKey; readonly title: string | null }[]> {
  const titled = await postingsTitled(db, text, feed, limit);
  return db.query(
    `with found as (
       select key from mapping where feed = $1 and position(lower($2) in lower(key)) > 0
       union select key from change where feed = $1 and position(lower($2) in lower(key)) > 0
       union select key from request where operation = 'delete' and feed = $1
         and (position(lower($2) in lower(key)) > 0 or position(lower($2) in lower(title)) > 0)
       union select * from unnest($3::text[])
       order by key limit $4)
     select f.key, coalesce((d.fields)->>'title', (c.fields)->>'title', (select q.title from request q
       where q.feed = $1 and q.key = f.key and q.operation = 'delete' and q.title is not null order by q.id desc limit 1)) as title
     from found f left join document d on d.feed = $1 and d.key = f.key left join change c on c.feed = $1 and c.key = f.key
     order by f.key`,
    [feed, text, titled.map(({ key }) => key), limit],
  );
}

/** As the index has it. */
const WORDS = `array_to_tsvector(words_of(d.fields->>'title') || ('@' || d.feed))`;
/** Reading so many titles takes a few milliseconds. */
const SAMPLE = 300;
/** Reading so many takes about as long as the index takes for words of so few titles that more would have to be read. */
const MOST_READ = 3_000;
const first = (titles: number): string => `select d.feed, d.key, ${WORDS} as words from (
  select * from document where $2::text is null or feed = $2 order by feed, key limit ${titles}) d`;

/**
 * Postings with a title of which words begin with each word of the text, as the function `word_query` has it: at most so many,
 * in no order. A posting that waits to be created has neither a job nor an entry in review, and is not found.
 */
export async function postingsTitled(
  db: Database,
  text: string,
  feed: FeedName | undefined,
  limit: number,
): Promise<PostingRef[]> {
  const sample = await amongFirst(db, SAMPLE, text, feed, limit);
  let found = distinct([...(await inReview(db, text, feed, limit)), ...sample]);
  // Twice as many as should have enough of them.
  const titles = Math.ceil((2 * SAMPLE * limit) / sample.length);
  if (found.length < limit && titles <= MOST_READ) {
    found = distinct([...found, ...(await amongFirst(db, titles, text, feed, limit))]);
  }
  if (found.length < limit) found = distinct([...found, ...(await byIndex(db, text, feed, limit))]);
  return found.slice(0, limit);
}

const distinct = (refs: readonly PostingRef[]): PostingRef[] => [
  ...new Map(refs.map((ref) => [`${ref.feed} ${ref.key}`, ref])).values(),
];

const inReview = (db: Queryable, text: string, feed: FeedName | undefined, limit: number): Promise<PostingRef[]> =>
  db.query<PostingRef>(
    `select e.feed, e.key from review_entry e
     where e.words @@ word_query($1, '=') and e.key is not null and ($2::text is null or e.feed = $2) limit $3`,
    [text, feed ?? null, limit],
  );

/** Searches the first titles only: if many postings have the words, some of these do. */
const amongFirst = (
  db: Queryable,
  titles: number,
  text: string,
  feed: FeedName | undefined,
  limit: number,
): Promise<PostingRef[]> =>
  db.query<PostingRef>(`select feed, key from (${first(titles)}) d where words @@ word_query($1) limit $3`, [
    text,
    feed ?? null,
    limit,
  ]);

/** The index reads every posting with a word. Words that most titles have are therefore compared with what the others find; so is a feed with most jobs. */
const byIndex = (db: Database, text: string, feed: FeedName | undefined, limit: number): Promise<PostingRef[]> =>
  db.transaction(async (tx) => {
    const [row] = await tx.query<{ rare: string | null; common: string | null; most: boolean }>(
      `with sample as materialized (${first(SAMPLE)}),
       searched as materialized (select word, word_query(word) as query from unnest(words_of($1)) word),
       frequent as materialized (
         select word, (select 2 * count(*) filter (where words @@ query) > count(*) from sample) as most from searched)
       select string_agg(word, ' ') filter (where not most) as rare, string_agg(word, ' ') filter (where most) as common,
         coalesce(2 * (select n from mapping_total where feed = $2) > (select sum(n) from mapping_total), false) as most
       from frequent`,
      [text, feed ?? null],
    );
    const { rare = null, common = null, most = false } = row ?? {};
    const [searched, compared] = rare === null ? [common, null] : [rare, common];
    // Comparing all titles takes many seconds, whatever the server expects, and so does comparing those that do not fit into memory.
    await tx.query(`select set_config('enable_seqscan', 'off', true), set_config('enable_indexscan', 'off', true),
      set_config('work_mem', '64MB', true)`);
    const asWord = feed === undefined || most ? '' : `&& ('''@' || $4::text || '''')::tsquery`;
    return tx.query<PostingRef>(
      `select d.feed, d.key from document d
       where ${WORDS} @@ (word_query($1) ${asWord}) and ($2::text is null or ${WORDS} @@ word_query($2))
         and ($4::text is null or d.feed || '' = $4) limit $3`,
      [searched, compared, limit, feed ?? null],
    );
  });

// Streams mappings for lists and exports, and counts them.

export interface MappingRow {
  readonly feed: FeedName;
  readonly key: PostingKey;
  readonly site: SiteName;
  readonly siteJobId: SiteJobId;
  readonly url: string | undefined;
  /** When the posting got the job, or when its days on the site were started anew. */
  readonly since: Date;
}

const READ_AT_ONCE = 1_000;

/**
 * Ordered by the bytes of feed and key, in every database alike, so that exports of the same mappings are equal. All rows are as of
 * one moment.
 */
export async function* listMappings(
  db: Database,
  feed: FeedName | undefined,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<MappingRow> {
  const session = await db.session();
  try {
    await session.query('begin read only');
    const select = `select m.feed, m.key, m.site, m.site_job_id as "siteJobId", m.site_job_url as url,
         greatest(m.mapped_at, e.renewed_at) as since
       from mapping m ${joinExpiry('m')}
       where $1::text is null or m.feed = $1 order by m.feed collate "C", m.key collate "C" limit $2`;
    const values = [feed ?? null, Number.isFinite(limit) ? limit : null];
    for await (const rows of inBatches<Stored<MappingRow>>(session, 'listed_mapping', select, READ_AT_ONCE, values)) {
      for (const row of rows) yield withoutNulls<MappingRow>(row);
    }
  } finally {
    await session.end();
  }
}

export const countMappings = (db: Queryable, feed: FeedName | undefined): Promise<number> =>
  readNumber(db, 'select count(*) as n from mapping where $1::text is null or feed = $1', [feed ?? null]);

export const hasJob = (db: Queryable, feed: FeedName, key: PostingKey): Promise<boolean> =>
  returnsRow(db, 'select from mapping where feed = $1 and key = $2', [feed, key]);

/** Reading so many rows takes less than a millisecond. */
const MOST_UNFOLDED = 1_000;

/** Feeds with live jobs, and how many: exact, but only for display. What decides about deletes counts the mappings themselves. */
export async function countLive(db: Queryable): Promise<ReadonlyMap<FeedName, number>> {
  const [rows] = await Promise.all([
    db.query<{ feed: FeedName; n: number }>(
      `select feed, sum(n)::bigint as n from (select feed, n from mapping_total union all select feed, n from mapping_tally) counts
       group by feed having sum(n) > 0`,
    ),
    foldLive(db),
  ]);
  return new Map(rows.map(({ feed, n }) => [feed, n]));
}

/** The counts are exact before and afterwards. */
async function foldLive(db: Queryable): Promise<void> {
  const [row] = await db.query<{ many: boolean }>(
    `select ${IS_WRITABLE} and exists (select from mapping_tally offset ${MOST_UNFOLDED}) as many`,
  );
  if (row?.many === true) await db.query('select fold_mapping_tally()');
}
