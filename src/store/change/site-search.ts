// Stores whether a site was searched for jobs of a feed before the feed's first create, and what a person should know of it; and for jobs that
// it denies.
import { type Message, messageOf, plural } from '../../plan/message.ts';
import type { FeedName, PostingKey, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import { SENDING_RANK } from '../backlog/backlog.ts';
import { lockOutcomes } from '../locks/advisory-locks.ts';
import { toJsonb } from '../postgres/copy-rows.ts';
import {
  columnsOf,
  type Database,
  type Queryable,
  readColumn,
  readMap,
  readValue,
  returnsRow,
  type Stored,
  withoutNulls,
} from '../postgres/database.ts';
import { confirmSiteAt } from '../site/known-address.ts';
import { doubtCreatesWithJobs, type SiteRules } from './recognise-jobs.ts';

/** Feeds of a site whose creates wait for a search of the site. @param retryMs delay after a failed search. */
export const feedsToCheck = (db: Queryable, site: SiteName, retryMs: number): Promise<FeedName[]> =>
  readColumn<FeedName>(
    db,
    `select feed from feed_state f where site = $1 and site_checked_at is null and retired_at is null
       and coalesce(site_check_failed_at not between clock_timestamp() - make_interval(secs => $2) and clock_timestamp(), true)
       and exists (select from change c where c.feed = f.feed and c.state = 'ready' and c.operation = 'create')
     order by feed`,
    [site, retryMs / 1000],
  );

/** For this long after a restore, a feed that begins may have been added between the backup and the restore. */
const ADDED_WITHIN_DAYS = 30;

/** The feeds of which a restored backup may lack something, with those that began soon after the restore. */
export async function restoredFeeds(db: Queryable, feeds: readonly FeedName[]): Promise<ReadonlySet<FeedName>> {
  await db.query(
    `update feed_state f set restored_at = r.at from (select max(restored_at) as at from feed_state) r
     where f.feed = any($1::text[]) and f.restored_at is null and r.at > now() - make_interval(days => $2)`,
    [feeds, ADDED_WITHIN_DAYS],
  );
  return new Set(
    await readColumn<FeedName>(
      db,
      'select feed from feed_state where feed = any($1::text[]) and restored_at is not null',
      [feeds],
    ),
  );
}

/** A retired feed that has the postings of a feed without jobs. */
export interface FormerFeed {
  readonly feed: FeedName;
  /** So many have the same key, and the same content, text or address. */
  readonly postings: number;
}

/** From this length on, equal values are texts, and not such as any two postings may have. */
const LEAST_TEXT = 40;

/**
 * Retired feeds of this site, or of one of another name at its address, whose jobs a feed that has no job yet would make again. The fields
 * may have changed with the name; what all postings with the same key share, such as an address for all applications, proves nothing.
 */
export const possibleFormerFeeds = (
  db: Queryable,
  feed: FeedName,
  { site, address }: { readonly site: SiteName; readonly address: string },
): Promise<FormerFeed[]> =>
  db.query<FormerFeed>(
    `select f.feed, count(*) as postings from feed_state f join mapping m on m.feed = f.feed
     join change c on c.feed = $1 and c.key = m.key and c.state = 'ready' and c.operation = 'create'
     left join document d on d.feed = m.feed and d.key = m.key and c.content_hash <> m.content_hash
     cross join lateral (select case when d.feed is null then c.content_hash::text else (
         select string_agg(value, ' ' order by key) from json_each_text(c.fields) join json_each_text(d.fields) e using (key, value)
         where length(value) >= ${LEAST_TEXT} or value like '%://%') end as same) s
     where f.retired_at is not null and (m.site = $2 or m.site in (select site from site_state where address = $3))
       and s.same is not null and (d.feed is not null or c.content_hash = m.content_hash)
       and not exists (select from mapping own where own.feed = $1)
     group by f.feed having count(distinct s.same) > 1 or count(*) = 1 or bool_or(c.content_hash = m.content_hash) order by f.feed`,
    [feed, site, address],
  );

/** Records the progress of the search. That the last one failed stays known until this one ends. */
export async function noteSearch(db: Queryable, feeds: readonly FeedName[], note: string): Promise<void> {
  await db.query(
    'update feed_state set site_check_note = $2 where feed = any($1::text[]) and site_checked_at is null',
    [feeds, toJsonb(note)],
  );
}

/** Records that the site could not be searched; nothing of the feed is created. */
export async function noteFailedSearch(db: Queryable, feed: FeedName, why: Message): Promise<void> {
  await db.query(
    `update feed_state set site_check_note = $2, site_check_failed_at = clock_timestamp()
     where feed = $1 and site_checked_at is null`,
    [feed, toJsonb(why)],
  );
}

/**
 * Ends the search for one feed: creates for which a job was found wait for a person, all others may be sent.
 * @param address where the site was searched. @param rules absent: it cannot be searched. @param note what a person should know, shown once.
 * @returns how many wait; `undefined`: the site's jobs are at another address, and its search is not ended.
 */
export async function endSearch(
  db: Database,
  feed: FeedName,
  { site, address }: { readonly site: SiteName; readonly address: string },
  rules: SiteRules | undefined,
  note: Message | undefined,
): Promise<number | undefined> {
  return db.transaction(async (tx) => {
    await lockOutcomes(tx, feed);
    const doubted = rules === undefined ? 0 : await doubtCreatesWithJobs(tx, feed, site, rules);
    // What it has put in doubt is only delayed.
    if (!(await confirmSiteAt(tx, site, address))) return undefined;
    await declareSiteChecked(tx, feed, site, {
      note: note ?? (doubted === 0 ? undefined : describeUnknown(feed, doubted, await areReferenced(tx, feed))),
    });
    return doubted;
  });
}

const describeUnknown = (feed: FeedName, doubted: number, referenced: boolean): Message =>
  messageOf(
    `the site seems to have jobs of ${plural(doubted, 'posting')} that this database does not know: it was lost or restored, or ` +
      'another program made them, or another installation mirrors this feed',
    [
      referenced
        ? { words: 'to find and map all of them by their references', action: { kind: 'recover_feed', feed } }
        : { words: 'to see whose they are, and map the certain ones', action: { kind: 'adopt_jobs', feed } },
    ],
  );

/** Whether the site shows references of the jobs that were found for the feed's creates. */
const areReferenced = (tx: Queryable, feed: FeedName): Promise<boolean> =>
  returnsRow(
    tx,
    `select from change c join site_reference r on r.site = c.site and r.site_job_id = c.found_job_id
     where c.feed = $1 and c.state = 'in_doubt' and r.reference <> '' limit 1`,
    [feed],
  );

/**
 * The site refuses this token: the creates of feeds for which it was searched since it last accepted the token wait for another search, as
 * that one may have seen only what everybody sees. A person's word that it has none of a feed's jobs still counts.
 */
export async function searchUnprovenAgain(db: Queryable, site: SiteName, tokenDigest: string): Promise<void> {
  await db.query(
    `update feed_state set site_checked_at = null, site_check_note = null, site_check_failed_at = null
     where site = $1 and not site_declared and site_checked_at > coalesce(
       (select accepted_at from refused_token where site = $1 and digest = $2), '-infinity')`,
    [site, tokenDigest],
  );
}

/**
 * The feed's creates wait until the site was searched again: it has jobs that may be theirs. A person's word that it has none of the
 * feed's jobs still counts.
 */
export async function searchFeedAgain(db: Queryable, feed: FeedName): Promise<void> {
  await db.query(
    `update feed_state set site_checked_at = null, site_check_note = null, site_check_failed_at = null
     where feed = $1 and site_checked_at is not null and not site_declared`,
    [feed],
  );
}

/** From now on creates of the feed are sent. @param declared whether a person says that the site has none of its jobs. */
export async function declareSiteChecked(
  tx: Queryable,
  feed: FeedName,
  site: SiteName,
  { note, declared = false }: { readonly note?: Message | undefined; readonly declared?: boolean },
): Promise<void> {
  await tx.query(
    `insert into feed_state (feed, site, site_checked_at, site_check_note, site_declared)
     values ($1, $2, clock_timestamp(), $3, $4)
     on conflict (feed) do update set site_checked_at = clock_timestamp(), site_check_note = excluded.site_check_note,
       site_check_failed_at = null, site_declared = excluded.site_declared`,
    [feed, site, note === undefined ? null : toJsonb(note), declared],
  );
}

/** So long a search may fail before somebody has to know: it is made again by itself. */
const MAY_FAIL = `interval '5 minutes'`;

/** The longest wait that a site may ask for: see `readRetryAfter`. */
const MAY_ASK_TO_WAIT = `interval '1 hour'`;

/** SQL: since when the first create of the feed `f` waits. */
const CREATES_WAIT_SINCE = `(select c.since from change c where c.feed = f.feed and c.state = 'ready'
  and ${SENDING_RANK} = 1 order by c.id limit 1)`;

/** SQL: whether creates of the feed `f` have waited for so long for a search of its site, which has failed. */
export const WAITS_FOR_SEARCH = `f.site_checked_at is null and f.site_check_failed_at is not null and f.retired_at is null
  and ${CREATES_WAIT_SINCE} < now() - ${MAY_FAIL}`;

/** The feeds whose creates have waited for longer than a site may ask to wait. */
export const feedsWaitingLong = (db: Queryable, feeds: readonly FeedName[]): Promise<FeedName[]> =>
  readColumn<FeedName>(
    db,
    `select feed from unnest($1::text[]) f(feed) where ${CREATES_WAIT_SINCE} < now() - ${MAY_ASK_TO_WAIT}`,
    [feeds],
  );

/** Feeds of which nothing is created because their sites cannot be searched, with the reason. */
export const unsearchedFeeds = (db: Queryable): Promise<ReadonlyMap<FeedName, Message>> =>
  readMap(db, `select feed, coalesce(site_check_note, '""') as note from feed_state f where ${WAITS_FOR_SEARCH}`);

/** A search for one feed that has not ended. */
export interface OpenSearch {
  readonly feed: FeedName;
  readonly note: Message | undefined;
  /** Why it failed, if it failed after `since`. */
  readonly failure: Message | undefined;
}

/** The time by the database clock. */
export async function databaseTime(db: Queryable): Promise<Date> {
  const [row] = await db.query<{ now: Date }>('select clock_timestamp() as now');
  return row?.now ?? new Date();
}

/** Feeds with creates that wait for the search. @param since by the database clock. */
export async function openSearches(db: Queryable, feeds: readonly FeedName[], since: Date): Promise<OpenSearch[]> {
  const rows = await db.query<Stored<OpenSearch>>(
    `select feed, site_check_note as note, case when site_check_failed_at > $2 then coalesce(site_check_note, '""') end as failure from feed_state f
     where feed = any($1::text[]) and site_checked_at is null
       and exists (select from change c where c.feed = f.feed and c.state = 'ready' and c.operation = 'create')`,
    [feeds, since],
  );
  return rows.map(withoutNulls<OpenSearch>);
}

/** What a person should know about a search that has ended; returned once. */
export const takeSearchNote = (db: Queryable, feed: FeedName): Promise<Message | undefined> =>
  readValue<Message>(
    db,
    `update feed_state f set site_check_note = null from feed_state old
     where f.feed = $1 and old.feed = f.feed and f.site_checked_at is not null and old.site_check_note is not null
     returning old.site_check_note as note`,
    [feed],
  );

// Jobs that the site denies in its own words, and not by 404: its list tells whether it has them.

/** A change that waits until the list was read. */
export interface DeniedJob {
  readonly feed: FeedName;
  readonly key: PostingKey;
  readonly revision: number;
  readonly desired: 'present' | 'absent';
  readonly siteJobId: SiteJobId;
  /** The values of title and reference that the job had, and those that were sent or are to be. */
  readonly known: readonly Fields[];
}

const DENIED_AT_ONCE = 2_000;
const IS_OPEN = `c.state = 'ready' and not c.gone and c.not_before > '-infinity' and c.reason->>'denied' = 'open'`;

/** Keeps them from being sent meanwhile: reading the list may take long. */
export async function takeDenied(
  db: Queryable,
  site: SiteName,
  forSeconds: number,
  referenceField: string | undefined,
): Promise<DeniedJob[]> {
  const cluesIn = (fields: string) =>
    `jsonb_strip_nulls(jsonb_build_object('title', ${fields}->>'title') || case when $3::text is null then '{}'
       else jsonb_build_object($3::text, ${fields}->>$3) end)`;
  return db.query<DeniedJob>(
    `update change c set not_before = now() + make_interval(secs => $2)
     from (select c.feed, c.key, m.site_job_id, d.fields from feed_state f join change c on c.feed = f.feed
         join mapping m on m.feed = c.feed and m.key = c.key left join document d on d.feed = c.feed and d.key = c.key
       where f.site = $1 and ${IS_OPEN} order by c.feed, c.key limit ${DENIED_AT_ONCE} for update of c) d
     where c.feed = d.feed and c.key = d.key
     returning c.feed, c.key, c.revision, c.desired, d.site_job_id as "siteJobId",
       jsonb_build_array(${cluesIn('d.fields')}, ${cluesIn('coalesce(c.sent_fields, c.fields)')}) as known`,
    [site, forSeconds, referenceField ?? null],
  );
}

/** Has them sent again at once. @param verdictOf see `Attempt.denied` */
export const endDenied = (db: Queryable, denied: readonly DeniedJob[], verdictOf: (job: DeniedJob) => string) =>
  db.query(
    `update change c set not_before = '-infinity', reason = c.reason || jsonb_build_object('denied', d.verdict)
     from (select c.feed, c.key, v.verdict from unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) v(feed, key, revision, verdict)
       join change c on c.feed = v.feed and c.key = v.key and c.revision = v.revision
       where ${IS_OPEN} order by c.feed, c.key for update of c) d
     where c.feed = d.feed and c.key = d.key`,
    [...columnsOf(denied, 'feed', 'key', 'revision'), denied.map(verdictOf)],
  );
