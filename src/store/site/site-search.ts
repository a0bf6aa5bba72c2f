// Stores whether a site was searched for jobs of a feed before the feed's first create, and the jobs that were found.
import { createHash } from 'node:crypto';
import { cluesOf } from '../../plan/match-doubt.ts';
import type { Message } from '../../plan/message.ts';
import { rewritings } from '../../plan/observe-values.ts';
import { compareReferences, fieldOf, referenceForm } from '../../plan/same-value.ts';
import type { FeedName, PostingKey, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import { holdRecognised, type Recognised } from '../change/hold-found.ts';
import { seizeFeed } from '../locks/advisory-locks.ts';
import type { Database, Queryable } from '../postgres/database.ts';
import { toJsonb } from '../postgres/jsonb.ts';
import { learntRewrites } from './value-rewrites.ts';

/** A site job that no mapping owns, with what it shows. */
export interface FoundJob {
  readonly siteJobId: SiteJobId;
  readonly reference: string | undefined;
  /** The reference contains the token, so it must not be readable in the database. */
  readonly isSecret: boolean;
  readonly title: string | undefined;
}

/** A create that may be sent, with the values by which its job is recognised. */
export interface SearchedCreate {
  readonly key: string;
  readonly reference: string | null;
  readonly title: string | null;
}

const SECRET_FORM = 'sha256 ';

const READ_AT_ONCE = 2_000;
/** Shorter references are not compared as prefixes, because consecutive numbers begin alike. */
const LEAST_CUT = 12;
/** Compared length of a reference and a title, as an index cannot hold long texts. */
const MOST_OF_CLUE = 300;

/** Feeds of a site whose creates wait for a search of the site. @param retryMs delay after a failed search. */
export async function feedsToCheck(db: Queryable, site: SiteName, retryMs: number): Promise<FeedName[]> {
  const rows = await db.query<{ feed: FeedName }>(
    `select feed from feed_state f where site = $1 and site_checked_at is null and retired_at is null
       and coalesce(site_check_failed_at < clock_timestamp() - make_interval(secs => $2), true)
       and exists (select from change c where c.feed = f.feed and c.state = 'ready' and c.operation = 'create')
     order by feed`,
    [site, retryMs / 1000],
  );
  return rows.map(({ feed }) => feed);
}

/** Records the progress of the search. */
export async function noteSearch(db: Queryable, feeds: readonly FeedName[], note: string): Promise<void> {
  await db.query(
    'update feed_state set site_check_note = $2, site_check_failed_at = null where feed = any($1::text[]) and site_checked_at is null',
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

/** Removes jobs found by earlier searches but not by this complete one, which began at `since`. */
export async function forgetUnread(db: Queryable, site: SiteName, since: Date): Promise<void> {
  await db.query('delete from site_reference where site = $1 and (read_at < $2 or read_at is null)', [site, since]);
}

/** A reading of the site's list in which jobs may be found. */
export interface Reading {
  readonly site: SiteName;
  readonly referenceField: string;
  /** When it began, by the database clock. */
  readonly since: Date;
  /** Whether it searches for jobs; if not, earlier findings stay as they are. */
  readonly isSearch: boolean;
}

const MOST_SHOWN = 1_000;

/**
 * Stores the jobs that nothing in the database owns and that were not deleted since the reading began.
 * @param contradicting jobs that show a different reference than the posting that owns them.
 */
export async function keepFound(
  db: Queryable,
  { site, referenceField, since, isSearch }: Reading,
  jobs: readonly FoundJob[],
  contradicting: ReadonlySet<SiteJobId> = new Set(),
): Promise<void> {
  await db.query(
    `insert into site_reference as r
       (site, site_job_id, reference, shown, title, contradicts, field, read_at, by_search)
     select distinct on (j.id) $1, j.id, j.reference, left(j.shown, ${MOST_SHOWN}), j.title, j.contradicts, $7, $8, $9
     from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::bool[]) j(id, reference, shown, title, contradicts)
     where (j.contradicts or not exists (select from mapping m where m.site = $1 and m.site_job_id = j.id))
       and not exists (select from orphan_site_job s where s.site = $1 and s.site_job_id = j.id)
       and not exists (select from request q where q.at >= $8 and q.operation = 'delete' and q.site_job_id = j.id)
     on conflict (site, site_job_id) do update set reference = excluded.reference, shown = excluded.shown,
       title = excluded.title, contradicts = excluded.contradicts, field = excluded.field,
       read_at = excluded.read_at, by_search = true
     where excluded.by_search`,
    [
      site,
      jobs.map((job) => job.siteJobId),
      jobs.map(formOfFound),
      jobs.map(({ reference, isSecret }) => (isSecret ? null : (reference ?? null))),
      jobs.map(({ title }) => titleForm(title)),
      jobs.map((job) => contradicting.has(job.siteJobId)),
      referenceField,
      since,
      isSearch,
    ],
  );
}

function formOfFound({ reference, isSecret }: FoundJob): string {
  if (reference === undefined || reference.trim() === '') return '';
  const form = shortForm(reference);
  return isSecret ? secretForm(form) : form;
}

const shortForm = (reference: string): string => referenceForm(reference).slice(0, MOST_OF_CLUE);

const titleForm = (title: string | null | undefined): string | null =>
  cluesOf({ title: title ?? '' }, undefined).title?.slice(0, MOST_OF_CLUE) ?? null;

/** Removes jobs without a reference: if the list shows references of other jobs, these were created without one. */
export async function forgetUnreferenced(db: Queryable, site: SiteName): Promise<void> {
  await db.query(`delete from site_reference where site = $1 and reference = ''`, [site]);
}

/** How many unowned jobs the list shows without reference and title. */
export async function countNameless(db: Queryable, site: SiteName): Promise<number> {
  const [row] = await db.query<{ n: number }>(
    `select count(*)::int as n from site_reference where site = $1 and reference = '' and title is null`,
    [site],
  );
  return row?.n ?? 0;
}

/** A posting now owns the job, so it is no longer compared with other creates. */
export async function forgetReference(tx: Queryable, site: SiteName, id: SiteJobId): Promise<void> {
  await tx.query('delete from site_reference where site = $1 and site_job_id = $2', [site, id]);
}

/** References of the postings that own these jobs, by job ID. */
export async function ownReferences(
  db: Queryable,
  { site, referenceField }: Reading,
  ids: readonly SiteJobId[],
): Promise<ReadonlyMap<SiteJobId, string>> {
  const rows = await db.query<{ id: SiteJobId; reference: string }>(
    `select m.site_job_id as id, d.fields->>$3 as reference
     from mapping m join document d on d.feed = m.feed and d.key = m.key
     where m.site = $1 and m.site_job_id = any($2::text[]) and d.fields->>$3 <> ''`,
    [site, ids, referenceField],
  );
  return new Map(rows.map(({ id, reference }) => [id, reference]));
}

/**
 * Ends the search for one feed: creates for which a job was found wait for a person, all others may be sent.
 * @param note what a person should know, shown once. @returns how many wait.
 */
export async function endSearch(
  db: Database,
  feed: FeedName,
  site: SiteName,
  referenceField: string | undefined,
  note: Message | undefined,
): Promise<number> {
  return db.transaction(async (tx) => {
    await seizeFeed(tx, feed);
    const held = referenceField === undefined ? 0 : await holdFound(tx, feed, site, referenceField);
    await declareChecked(tx, feed, site, { note });
    return held;
  });
}

/** From now on creates of the feed are sent. @param declared whether a person says that the site has none of its jobs. */
export async function declareChecked(
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

/**
 * Makes ready creates wait for a person if an unmapped job on the site shows their reference. The caller holds the feed's
 * lock. @returns how many.
 */
export async function holdFound(
  tx: Queryable,
  feed: FeedName,
  site: SiteName,
  referenceField: string,
): Promise<number> {
  const [found] = await tx.query<{ secret: boolean | null }>(
    `select bool_or(reference like '${SECRET_FORM}%') as secret from site_reference where site = $1`,
    [site],
  );
  const hasSecret = found?.secret ?? undefined;
  if (hasSecret === undefined) return 0;
  const search = { feed, site, hasSecret, rewrittenAs: await rewriting(tx, site, referenceField) };
  let held = 0;
  // References are compared first, so that their jobs are not taken for those of other postings by title.
  for (const recognise of [byReference, byTitle]) {
    for (let last = ''; ; ) {
      const creates = await tx.query<SearchedCreate>(
        `select key, fields->>$3 as reference, fields->>'title' as title from change
         where feed = $1 and key > $2 and state = 'ready' and operation = 'create' and desired = 'present'
         order by key limit ${READ_AT_ONCE}`,
        [feed, last, referenceField],
      );
      held += (await holdRecognised(tx, feed, await recognise(tx, search, creates))).size;
      if (creates.length < READ_AT_ONCE) break;
      last = (creates.at(-1) as SearchedCreate).key;
    }
  }
  return held;
}

/**
 * The same for these creates, which may have become ready in any way: by an edit, a retry, a reopened entry.
 * @returns the keys of those that wait.
 */
export async function holdAmong(
  tx: Queryable,
  feed: FeedName,
  site: SiteName,
  referenceField: string,
  creates: readonly SearchedCreate[],
): Promise<ReadonlySet<string>> {
  const search = { feed, site, hasSecret: true, rewrittenAs: await rewriting(tx, site, referenceField) };
  const held = await holdRecognised(tx, feed, await byReference(tx, search, creates));
  const others = creates.filter(({ key }) => !held.has(key));
  const alike = await holdRecognised(tx, feed, await byTitle(tx, search, others));
  return new Set([...held, ...alike]);
}

interface Search {
  readonly feed: FeedName;
  readonly site: SiteName;
  /** Whether a found reference may contain a token. */
  readonly hasSecret: boolean;
  /** How the site is known to rewrite a reference. */
  readonly rewrittenAs: (reference: string) => readonly string[];
}

async function rewriting(tx: Queryable, site: SiteName, referenceField: string): Promise<Search['rewrittenAs']> {
  const learnt = await learntRewrites(tx, site);
  return (reference) => rewritings(learnt, referenceField, reference);
}

const UNOWNED = `(r.contradicts or not exists (select from mapping m where m.site = r.site and m.site_job_id = r.site_job_id))
       and not exists (select from mapping m where m.feed = $2 and m.key = a.key)
       and not exists (select from refuted_job x
         where x.feed = $2 and x.key = a.key and x.site = r.site and x.site_job_id = r.site_job_id)
       and (r.by_search or not exists (select from feed_state f where f.feed = $2 and f.site_declared))`;

/** Recognises jobs by their references, in any common form. */
async function byReference(
  tx: Queryable,
  { feed, site, hasSecret, rewrittenAs }: Search,
  creates: readonly SearchedCreate[],
): Promise<Recognised[]> {
  const asked = creates.flatMap(({ key, reference }) => {
    const forms = formsOf(reference ?? key, rewrittenAs);
    return [...forms, ...(hasSecret ? forms.map(secretForm) : [])].map((form) => ({ key, form }));
  });
  const found = await tx.query<{ key: string; id: string }>(
    `select distinct on (a.key) a.key, r.site_job_id as id
     from unnest($3::text[], $4::text[]) a(key, form) join site_reference r on r.site = $1 and r.reference = a.form
     where ${UNOWNED} order by a.key, length(r.reference) desc, r.site_job_id`,
    [site, feed, asked.map(({ key }) => key), asked.map(({ form }) => form)],
  );
  return found.map((each) => ({ ...each, kind: 'found_on_site' }));
}

/**
 * Recognises jobs by their titles if the list shows no references, or one reference is part of the other: sites truncate
 * references, add to them, or keep only their digits. A partial reference alone proves nothing: consecutive numbers overlap.
 */
async function byTitle(
  tx: Queryable,
  { feed, site, rewrittenAs }: Search,
  creates: readonly SearchedCreate[],
): Promise<Recognised[]> {
  const asked = creates.flatMap(({ key, reference, title }) => {
    const clue = titleForm(title);
    if (clue === null) return [];
    return partsOf(reference ?? key, rewrittenAs).map((form) => ({ key, clue, form }));
  });
  const found = await tx.query<{ key: string; id: string }>(
    `select distinct on (a.key) a.key, r.site_job_id as id
     from unnest($3::text[], $4::text[], $5::text[]) a(key, title, form)
       join site_reference r on r.site = $1 and r.title = a.title
     where r.reference not like '${SECRET_FORM}%' and (r.reference = '' or (strpos(r.reference, a.form) > 0 or strpos(a.form, r.reference) > 0)
         and 3 * least(length(r.reference), length(a.form)) >= greatest(length(r.reference), length(a.form)))
       and not exists (select from change o where o.feed = $2 and o.state = 'in_doubt' and o.found_job_id = r.site_job_id
                       and o.key <> a.key and o.reason->>'kind' = 'found_on_site')
       and ${UNOWNED}
     order by a.key, length(r.reference) desc, r.site_job_id`,
    [site, feed, asked.map(({ key }) => key), asked.map(({ clue }) => clue), asked.map(({ form }) => form)],
  );
  return found.map((each) => ({ ...each, kind: 'resembles_on_site' }));
}

/** Can be compared, but not read. No other form contains a space. */
const secretForm = (form: string): string => SECRET_FORM + createHash('sha256').update(form).digest('hex');

/** A person said that the site has no job of this posting: jobs recognised by its reference are not proposed again. */
export async function refuteFound(
  tx: Queryable,
  { feed, key, site }: { readonly feed: FeedName; readonly key: PostingKey; readonly site: SiteName },
  fields: Fields,
): Promise<void> {
  const [known] = await tx.query<{ field: string }>(
    'select field from site_reference where site = $1 and field is not null limit 1',
    [site],
  );
  if (known === undefined) return;
  const forms = formsOf(fieldOf(fields, known.field) ?? key, await rewriting(tx, site, known.field));
  await tx.query(
    `insert into refuted_job (site, site_job_id, feed, key)
     select site, site_job_id, $2, $3 from site_reference where site = $1 and reference = any($4::text[])
     on conflict do nothing`,
    [site, feed, key, [...forms, ...forms.map(secretForm)]],
  );
}

/** The forms of a reference, including what sites that truncate it may have kept. */
function formsOf(reference: string, rewrittenAs: Search['rewrittenAs']): string[] {
  const form = shortForm(reference);
  const forms = [form, ...rewrittenAs(reference).map(shortForm)];
  for (let length = form.length - 1; length >= LEAST_CUT; length--) {
    const part = form.slice(0, length);
    if (compareReferences(form, part) === 'cut') forms.push(part);
  }
  return [...new Set(forms)];
}

/** The same for partial comparison; sites also drop leading zeros of a number. */
const partsOf = (reference: string, rewrittenAs: Search['rewrittenAs']): string[] => [
  ...new Set([reference, reference.replace(/(?<!\d)0+(?=\d)/g, ''), ...rewrittenAs(reference)].map(shortForm)),
];

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
  const rows = await db.query<{ feed: FeedName; note: Message | null; failed: boolean | null }>(
    `select feed, site_check_note as note, site_check_failed_at > $2 as failed from feed_state f
     where feed = any($1::text[]) and site_checked_at is null
       and exists (select from change c where c.feed = f.feed and c.state = 'ready' and c.operation = 'create')`,
    [feeds, since],
  );
  return rows.map(({ feed, note, failed }) => ({
    feed,
    note: note ?? undefined,
    failure: failed === true ? (note ?? '') : undefined,
  }));
}

/** What a person should know about a search that has ended; returned once. */
export async function takeSearchNote(db: Queryable, feed: FeedName): Promise<Message | undefined> {
  const [row] = await db.query<{ note: Message | null }>(
    `update feed_state f set site_check_note = null from feed_state old
     where f.feed = $1 and old.feed = f.feed and f.site_checked_at is not null and old.site_check_note is not null
     returning old.site_check_note as note`,
    [feed],
  );
  return row?.note ?? undefined;
}
