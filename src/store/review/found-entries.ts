// Reads the creates of a feed for which a site search found a job, and which of them are unambiguous.
import type { FeedName, PostingKey, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import type { EntryKind } from '../backlog/open-counts.ts';
import type { Queryable } from '../postgres/database.ts';

export interface FoundEntry {
  readonly entry: number;
  readonly key: PostingKey;
  readonly siteJobId: SiteJobId;
  /** What tells its owner. */
  readonly by: 'reference' | 'content';
  /** Why a person has to decide this entry by itself; `undefined` if the owner of the job is certain. */
  readonly ambiguous: string | undefined;
}

/** The feed and site whose found jobs are read. */
export interface FoundJobsScope {
  readonly feed: FeedName;
  /** Into which the configuration mirrors the feed: the jobs of another site are not its own. */
  readonly site: SiteName;
  /** The field that tells jobs of the site apart; `undefined`: none does. */
  readonly referenceField: string | undefined;
}

/**
 * A found job certainly belongs to a posting if the site shows exactly the posting's reference, no other job of the site
 * shows a form of it, and no other posting of the site has it; or if the search judged so by everything that the job shows, and it
 * may be the job of no other create. A job that may be another user's is not certainly ours to change.
 */
export async function foundEntries(
  db: Queryable,
  { feed, site, referenceField }: FoundJobsScope,
): Promise<FoundEntry[]> {
  const rows = await db.query<FoundFacts & { entry: number; key: PostingKey; site: SiteName }>(
    `with found as materialized (
       select c.id, c.site, c.feed, c.key, c.desired = 'absent' as gone, c.found_job_id as job,
         coalesce(c.reason->>'kind' = 'found_on_site' and c.reason->>'by' = 'content', false) as alike, r.shown, r.reference as form, coalesce(r.foreign_owner, false) as foreign,
         btrim(coalesce(nullif(coalesce(c.sent_fields, c.fields)->>$2::text, ''), c.key)) as own
       from change c left join site_reference r on r.site = c.site and r.site_job_id = c.found_job_id
       where c.feed = $1 and c.state = 'in_doubt' and c.found_job_id is not null),
     contested as materialized (
       select f.id from found f join (select o.id, o.site, jsonb_array_elements_text(o.reason->'candidates') as job
           from change o where o.state = 'in_doubt' and o.site = $3 and jsonb_typeof(o.reason->'candidates') = 'array') o
         on o.site = f.site and o.job = f.job and o.id <> f.id where f.alike),
     claimed as materialized (
       select f.id from found f join change o on o.site = f.site and (o.feed, o.key) <> (f.feed, f.key)
         and btrim(coalesce(o.sent_fields, o.fields)->>$2) = f.own
       union select f.id from found f join change o on o.found_job_id = f.job and o.site = f.site and o.id <> f.id
       union select f.id from found f join mapping m on m.site = f.site and (m.feed, m.key) <> (f.feed, f.key)
         join document d on d.feed = m.feed and d.key = m.key and btrim(d.fields->>$2) = f.own)
     select f.id as entry, f.key, f.site, f.gone, f.job, f.shown, f.foreign, coalesce(btrim(f.shown) = f.own, false) as exact,
       (select count(*) from site_reference o where o.site = f.site and o.reference = f.form) as jobs,
       exists(select from mapping m where m.site = f.site and m.site_job_id = f.job) as owned,
       f.id in (select id from claimed) as claimed, f.alike, f.id in (select id from contested) as contested
     from found f order by f.id`,
    [feed, referenceField ?? null, site],
  );
  return rows.map(({ entry, key, ...facts }) => ({
    entry,
    key,
    siteJobId: facts.job,
    by: facts.exact || !facts.alike ? 'reference' : 'content',
    ambiguous: facts.site === site ? whyAmbiguous(facts) : `it is of site ${facts.site}, not of ${site}`,
  }));
}

/** So many rows are read by {@link foundEntries} within a few milliseconds. */
const FEW_ROWS = 20_000;

export interface FoundFingerprint {
  /** Another one if a job was found for another entry, or an entry was decided. */
  readonly fingerprint: string;
  /** {@link foundEntries} reads so many rows that it may take seconds, as the server estimates. */
  readonly takesLong: boolean;
}

/** What tells whether {@link foundEntries} has to read all postings of the site again. */
export async function foundFingerprint(db: Queryable, feed: FeedName): Promise<FoundFingerprint> {
  const [row] = await db.query<{ fingerprint: string; rows: number }>(
    `select (select count(*) || ' ' || coalesce(sum(hashtextextended(id || ' ' || found_job_id || ' ' || revision, 0)), 0)
         from change where feed = $1 and state = 'in_doubt' and found_job_id is not null) as fingerprint,
       (select sum(reltuples) from pg_class where oid in ('change'::regclass, 'document'::regclass))::float8 as rows`,
    [feed],
  );
  return { fingerprint: row?.fingerprint ?? '', takesLong: (row?.rows ?? 0) > FEW_ROWS };
}

/** How many found jobs wait for a person, per feed that has any. */
export async function countFound(
  db: Queryable,
  feed: FeedName | undefined,
): Promise<readonly { readonly feed: FeedName; readonly n: number }[]> {
  return db.query(
    `select feed, count(*) as n from change
     where site = any(array(select site from feed_state)) and state = 'in_doubt' and found_job_id is not null and ($1::text is null or feed = $1) group by feed order by feed`,
    [feed ?? null],
  );
}

interface FoundFacts {
  /** The feed no longer has the posting, or it has expired. */
  readonly gone: boolean;
  readonly job: SiteJobId;
  readonly shown: string | null;
  readonly exact: boolean;
  readonly jobs: number;
  readonly owned: boolean;
  readonly claimed: boolean;
  /** The search judged that the job is the posting's by what it shows. */
  readonly alike: boolean;
  /** Another create may have it. */
  readonly contested: boolean;
  /** The site shows jobs of several users, and this one may be another user's. */
  readonly foreign: boolean;
}

function whyAmbiguous(facts: FoundFacts): string | undefined {
  const { gone, job, shown, exact, jobs, owned, claimed, alike, contested, foreign } = facts;
  if (gone) return 'its posting is to be removed: once adopted, the job would be deleted';
  if (owned) return `job ${job} belongs to another posting`;
  if (foreign) return `job ${job} may be another user’s`;
  if (alike && !exact) return contested ? `job ${job} may be that of another posting as well` : undefined;
  if (!exact) {
    return shown === null
      ? `job ${job} shows no reference, and too little else that only the posting has`
      : `job ${job} shows the reference "${shown.slice(0, 100)}", which is not exactly the posting's`;
  }
  if (jobs > 1) return `${jobs} jobs on the site show this reference`;
  return claimed ? 'another posting of the site has the same reference' : undefined;
}

// What a person selects in review: by group, feed, site, kind, text and age, or one by one. One condition for lists, counts and actions.

/** Selects review entries; absent parts select all. */
export interface EntryQuery {
  readonly groups?: readonly string[] | undefined;
  readonly feed?: FeedName | undefined;
  readonly site?: SiteName | undefined;
  readonly kinds?: readonly EntryKind[] | undefined;
  /** Each word of it begins a word of the key, title, value or message, in any case; one of two characters or less is such a word. */
  readonly text?: string | undefined;
  /** They have waited for at least so long. */
  readonly olderThanMs?: number | undefined;
  /** They have waited for less. */
  readonly newerThanMs?: number | undefined;
  /** Selects discarded entries instead of waiting ones. */
  readonly discarded?: boolean | undefined;
  /** Only entries with these numbers. */
  readonly ids?: readonly number[] | undefined;
  /** The parts that the rest selects, if they were read: see `inParts`. */
  readonly parts?: readonly string[] | undefined;
}

/** How many values {@link valuesOf} gives. */
export const QUERY_VALUES = 10;
/** How many of them {@link ENTRY_MATCHES_COUNTED} has. */
export const COUNTED_VALUES = 5;
/** The text, the numbers, the parts. */
const [AT_TEXT, AT_IDS, AT_PARTS] = ['$6::text', '$9::bigint[]', '$10::bigint[]'];

/** The part of the condition that is about what entries are counted by; see `review-totals.ts`. */
export const ENTRY_MATCHES_COUNTED = `e.discarded = $1 and ($2::text[] is null or e.kind = any($2))
  and ($3::text[] is null or e.group_id = any($3)) and ($4::text is null or e.feed = $4)
  and ($5::text is null or e.site = $5
    or (e.site is null and e.feed in (select f.feed from feed_state f where f.site = $5)))`;

/** The part of the condition that is about the age. */
export const ENTRY_MATCHES_AGE = `($7::float8 is null or e.since <= now() - make_interval(secs => $7 / 1000))
  and ($8::float8 is null or e.since > now() - make_interval(secs => $8 / 1000))`;

/**
 * The same with times that are computed once, so that ages are compared before words where all entries are read. The server cannot tell
 * how many entries these select, so it needs the other form as well.
 */
const HAS_AGE = `($7::float8 is null or e.since <= (select now() - make_interval(secs => $7 / 1000)))
  and ($8::float8 is null or e.since > (select now() - make_interval(secs => $8 / 1000)))`;

/** The rows that {@link ENTRY_MATCHES_AGE} leaves out, in two parts, each of which an index finds. */
export const [IS_NEWER, IS_OLDER] = [
  `$7::float8 is not null and e.since > now() - make_interval(secs => $7 / 1000)`,
  `$8::float8 is not null and e.since <= now() - make_interval(secs => $8 / 1000)`,
];

/** The condition on rows `e` of `review_entry`; its parameters are the first ones of the statement. */
export const MATCHES = `${ENTRY_MATCHES_COUNTED} and ${ENTRY_MATCHES_AGE} and ${HAS_AGE}
  and (${AT_TEXT} is null or e.words @@ word_query(${AT_TEXT}))
  and (${AT_IDS} is null or e.id = any(${AT_IDS})) and (${AT_PARTS} is null or e.part = any(${AT_PARTS}))`;

/** Lets a statement without {@link MATCHES} have the same parameters. */
export const NO_TEXT_OR_IDS = `${AT_TEXT} is null and ${AT_IDS} is null and ${AT_PARTS} is null`;

export const valuesOf = (query: EntryQuery): readonly unknown[] => [
  query.discarded === true,
  query.kinds ?? null,
  query.groups ?? null,
  query.feed ?? null,
  query.site ?? null,
  query.text ?? null,
  query.olderThanMs ?? null,
  query.newerThanMs ?? null,
  query.ids ?? null,
  query.parts ?? null,
];

/** Whether {@link ENTRY_MATCHES_COUNTED} and {@link ENTRY_MATCHES_AGE} are the whole condition. */
export const isByAge = ({ text, ids }: EntryQuery): boolean => text === undefined && ids === undefined;

/** Whether {@link ENTRY_MATCHES_COUNTED} is the whole condition. */
export const isCounted = (query: EntryQuery): boolean =>
  isByAge(query) && query.olderThanMs === undefined && query.newerThanMs === undefined;

/** Whether it selects all waiting entries of its groups and kinds. */
export const isWhole = (query: EntryQuery): boolean =>
  isCounted(query) && query.feed === undefined && query.site === undefined && query.discarded !== true;

/** A text may match any number of entries. Counting and acting read at most one more than these, which shows that there are more. */
export const MOST_FOUND = 10_000;

/** Whether more entries match the text than are counted. */
export const isCountCut = ({ text }: EntryQuery, counted: number): boolean =>
  text !== undefined && counted > MOST_FOUND;
