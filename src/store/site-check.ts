// Keeps whether a site was searched for jobs of a feed before the feed's first create, and what was found there.
import { createHash } from 'node:crypto';
import { compareReferences, referenceForm } from '../plan/same-value.ts';
import type { FeedName, SiteJobId, SiteName } from '../posting/identifiers.ts';
import { changeReason } from './change-reason.ts';
import type { Database, Queryable } from './database.ts';
import { seizeFeed } from './locks.ts';

/** A site job that no mapping owns, with the reference that it shows. */
export interface FoundJob {
  readonly siteJobId: SiteJobId;
  readonly reference: string;
  /** It holds the token, and is not to be read in the database. */
  readonly isSecret: boolean;
}

const SECRET_FORM = 'sha256 ';

const READ_AT_ONCE = 2_000;
/** A shorter reference is not taken for the beginning of a longer one: numbers in a row begin alike. */
const LEAST_CUT = 12;

/** Feeds of a site whose creates wait until the site was searched. @param retryMs how long a failed search rests. */
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

/** Notes how far the search is. */
export async function noteSearch(db: Queryable, feeds: readonly FeedName[], note: string): Promise<void> {
  await db.query(
    'update feed_state set site_check_note = $2, site_check_failed_at = null where feed = any($1::text[]) and site_checked_at is null',
    [feeds, note],
  );
}

/** Notes that the site could not be searched; nothing of the feed is created. */
export async function noteFailedSearch(db: Queryable, feed: FeedName, why: string): Promise<void> {
  await db.query(
    `update feed_state set site_check_note = $2, site_check_failed_at = clock_timestamp()
     where feed = $1 and site_checked_at is null`,
    [feed, why],
  );
}

/** Forgets what an earlier search found, for a new one. */
export async function forgetFound(db: Queryable, site: SiteName): Promise<void> {
  await db.query('delete from site_reference where site = $1', [site]);
}

/** Keeps those jobs that nothing in the database owns. */
export async function keepFound(
  db: Queryable,
  site: SiteName,
  referenceField: string,
  jobs: readonly FoundJob[],
): Promise<void> {
  await db.query(
    `insert into site_reference (site, site_job_id, reference, field)
     select $1, j.id, j.reference, $4 from unnest($2::text[], $3::text[]) j(id, reference)
     where not exists (select from mapping m where m.site = $1 and m.site_job_id = j.id)
       and not exists (select from stray s where s.site = $1 and s.site_job_id = j.id)
     on conflict do nothing`,
    [
      site,
      jobs.map((job) => job.siteJobId),
      jobs.map(({ reference, isSecret }) => (isSecret ? secretForm : String)(referenceForm(reference))),
      referenceField,
    ],
  );
}

/**
 * Ends the search for one feed: creates for which a job was found wait for a person, all others may be sent.
 * @param note what a person should know, told once. @returns how many wait.
 */
export async function endSearch(
  db: Database,
  feed: FeedName,
  site: SiteName,
  referenceField: string | undefined,
  note: string | undefined,
): Promise<number> {
  return db.transaction(async (tx) => {
    await seizeFeed(tx, feed);
    const held = referenceField === undefined ? 0 : await holdFound(tx, feed, site, referenceField);
    await declareChecked(tx, feed, site, note);
    return held;
  });
}

/** From now on creates of the feed are sent; also where a person says that the site has none of its jobs. */
export async function declareChecked(tx: Queryable, feed: FeedName, site: SiteName, note?: string): Promise<void> {
  await tx.query(
    `insert into feed_state (feed, site, site_checked_at, site_check_note) values ($1, $2, clock_timestamp(), $3)
     on conflict (feed) do update set site_checked_at = clock_timestamp(), site_check_note = excluded.site_check_note,
       site_check_failed_at = null`,
    [feed, site, note ?? null],
  );
}

/**
 * Has creates that are ready wait for a person where a job on the site, which no mapping owns, shows their reference. The
 * caller holds the feed's lock. @returns how many.
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
  let held = 0;
  for (let last = ''; ; ) {
    const creates = await tx.query<{ key: string; reference: string | null }>(
      `select key, fields->>$3 as reference from change
       where feed = $1 and key > $2 and state = 'ready' and operation = 'create' and wanted = 'present'
       order by key limit ${READ_AT_ONCE}`,
      [feed, last, referenceField],
    );
    held += (await holdAmong(tx, feed, site, creates, hasSecret)).size;
    if (creates.length < READ_AT_ONCE) return held;
    last = (creates.at(-1) as { key: string }).key;
  }
}

/**
 * The same among these creates, which may have become ready in any way: by an edit, a retry, a reopened entry.
 * @param hasSecret whether a reference that was found may hold a token.
 * @returns the keys of those that wait.
 */
export async function holdAmong(
  tx: Queryable,
  feed: FeedName,
  site: SiteName,
  creates: readonly { readonly key: string; readonly reference: string | null }[],
  hasSecret = true,
): Promise<ReadonlySet<string>> {
  const asked = creates.flatMap(({ key, reference }) => {
    const forms = formsOf(reference ?? key);
    return [...forms, ...(hasSecret ? forms.map(secretForm) : [])].map((form) => ({ key, form }));
  });
  const found = await tx.query<{ key: string; id: string }>(
    `select distinct on (a.key) a.key, r.site_job_id as id
     from unnest($2::text[], $3::text[]) a(key, form) join site_reference r on r.site = $1 and r.reference = a.form
     where not exists (select from mapping m where m.site = r.site and m.site_job_id = r.site_job_id)
       and not exists (select from mapping m where m.feed = $4 and m.key = a.key)
     order by a.key, length(r.reference) desc, r.site_job_id`,
    [site, asked.map(({ key }) => key), asked.map(({ form }) => form), feed],
  );
  if (found.length === 0) return new Set();
  const rows = await tx.query<{ key: string }>(
    `update change c set state = 'in_doubt', since = now(), found_job_id = f.id, reason = f.reason,
       attempt_token = gen_random_uuid(), attempt_operation = 'create', attempt_started = clock_timestamp()
     from unnest($2::text[], $3::text[], $4::jsonb[]) f(key, id, reason)
     where c.feed = $1 and c.key = f.key and c.state = 'ready' and c.operation = 'create' returning c.key`,
    [
      feed,
      found.map(({ key }) => key),
      found.map(({ id }) => id),
      found.map(({ id }) =>
        changeReason(
          'found_on_site',
          `not sent: job ${id} on the site has the reference of this posting, and no mapping knows it; say whether it is ` +
            'the job of this posting',
        ),
      ),
    ],
  );
  return new Set(rows.map(({ key }) => key));
}

/** It can be compared, and not be read. No other form has a space. */
const secretForm = (form: string): string => SECRET_FORM + createHash('sha256').update(form).digest('hex');

/** The form of a reference, and what sites that cut it may have kept. */
function formsOf(reference: string): string[] {
  const form = referenceForm(reference);
  const forms = [form];
  for (let length = form.length - 1; length >= LEAST_CUT; length--) {
    const part = form.slice(0, length);
    if (compareReferences(form, part) === 'cut') forms.push(part);
  }
  return forms;
}

/** The search of one feed that is not over. */
export interface OpenSearch {
  readonly feed: FeedName;
  readonly note: string | undefined;
  /** Why it failed, if it did later than `since`. */
  readonly failure: string | undefined;
}

/** What time it is by the database's clock. */
export async function databaseTime(db: Queryable): Promise<Date> {
  const [row] = await db.query<{ now: Date }>('select clock_timestamp() as now');
  return row?.now ?? new Date();
}

/** Feeds with creates that wait for the search. @param since by the database's clock. */
export async function openSearches(db: Queryable, feeds: readonly FeedName[], since: Date): Promise<OpenSearch[]> {
  const rows = await db.query<{ feed: FeedName; note: string | null; failed: boolean | null }>(
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

/** What a person should know of a search that is over; told once. */
export async function takeSearchNote(db: Queryable, feed: FeedName): Promise<string | undefined> {
  const [row] = await db.query<{ note: string | null }>(
    `update feed_state f set site_check_note = null from feed_state old
     where f.feed = $1 and old.feed = f.feed and f.site_checked_at is not null and old.site_check_note is not null
     returning old.site_check_note as note`,
    [feed],
  );
  return row?.note ?? undefined;
}

/**
 * Has all sites searched anew where the database is in another place than it was: it was restored or copied, and may know
 * less than the sites. @param place what the process knows of the place. @returns whether that is so.
 */
export async function noticeRestore(db: Database, place: string): Promise<boolean> {
  const [row] = await db.query<{ old: string | null; now: string }>(
    `update installation i set place = new.place from installation old,
       (select concat_ws('/', $1::text, (select oid from pg_database where datname = current_database()),
         pg_relation_filenode('feed_state'), pg_relation_filenode('mapping')) as place) new
     where i.id = old.id and i.place is distinct from new.place returning old.place as old, new.place as now`,
    [place],
  );
  if (row === undefined || row.old === null) return false;
  await db.query('update feed_state set site_checked_at = null, site_check_note = null, site_check_failed_at = null');
  return true;
}
