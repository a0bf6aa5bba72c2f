// Tells which jobs of ours a site must show if they exist. At a wrong address, with another user's token, or without a show action it
// denies that any exists, and some sites hide new jobs. The one rule for requests, lists, adoptions and `verify`.
import { type Message, messageOf, plural } from '../../plan/message.ts';
import { type FeedName, type PostingKey, type SiteJobId, type SiteName, siteJobId } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import { type Queryable, readFlag } from '../postgres/database.ts';
import { numberIn, numberOfTitled, titledNumber } from '../site/kept-values.ts';
import { TRUSTS_GONE, trustsGone } from '../site/site-state.ts';

/** The site shows these jobs. Those that no posting has are ignored. */
export async function noteShownJobs(db: Queryable, site: SiteName, ids: readonly SiteJobId[]): Promise<void> {
  if (ids.length === 0) return;
  await db.query(
    `update mapping set never_shown = false where site = $1 and never_shown
       and (site_job_id = any($2::text[]) or ${numberOfTitled('site_job_id')} = any($2::text[]))`,
    [site, ids],
  );
}

/** SQL: whether a delete of ours, meant for an older job with this ID, may have deleted the new one: sites use IDs again. */
const mayBeDeletedByUs = (
  id: string,
): string => `exists (select from request q where q.at > now() - interval '10 minutes'
  and q.operation = 'delete' and q.outcome in ('accepted', 'gone') and q.site_job_id = ${id})`;

/** What samples told about the new jobs of a site. */
export interface NewJobs {
  /** One that was not shown; `undefined`: there was none. */
  readonly hidden: SiteJobId | undefined;
  /** Whether the site is known to show other jobs of ours. */
  readonly isCertain: boolean;
}

export async function readNewJobs(db: Queryable, site: SiteName): Promise<NewJobs> {
  const [row] = await db.query<{ hidden: string | null; certain: boolean }>(
    'select new_hidden_job as hidden, hides_new_since is not null as certain from site_state where site = $1',
    [site],
  );
  return {
    hidden: row?.hidden == null ? undefined : siteJobId(row.hidden),
    isCertain: row?.certain === true,
  };
}

/**
 * The site shows, or does not show, a job that it has just created. The first one that it did not show is kept, unless it shows that one
 * a moment later.
 */
export async function noteNewJob(db: Queryable, site: SiteName, id: SiteJobId, isShown: boolean): Promise<void> {
  await db.query(
    `insert into site_state as s (site, new_shown_at, new_hidden_job)
     select $1, case when $3 then now() end, case when not $3 then $2::text end
     where $3 or not ${mayBeDeletedByUs('$2::text')}
     on conflict (site) do update set new_shown_at = coalesce(excluded.new_shown_at, s.new_shown_at),
       new_hidden_job = case when $3 then nullif(s.new_hidden_job, $2) else coalesce(s.new_hidden_job, $2) end`,
    [site, id, isShown],
  );
}

/** The site shows jobs of ours, but one of its new ones it did not show. */
export const noteHidesNew = (db: Queryable, site: SiteName): Promise<unknown> =>
  db.query('update site_state set hides_new_since = now() where site = $1 and hides_new_since is null', [site]);

/**
 * Whether a job that the site denies may only be hidden: it has never shown it since it created it, and is not known to show each new job
 * at once. A person who says that the site was emptied is believed.
 */
const mayBeHidden = (db: Queryable, site: SiteName, id: SiteJobId): Promise<boolean> =>
  readFlag(
    db,
    `select (s.new_shown_at is null or s.new_hidden_job is not null) and not ${TRUSTS_GONE} as hidden
     from mapping m left join site_state s on s.site = m.site where m.site = $1 and m.site_job_id = $2 and m.never_shown
       and not ${mayBeDeletedByUs('m.site_job_id')}`,
    [site, id],
  );

// Excludes jobs that are being deleted, and those known to be gone.
const EXPECTED = `m.site = $1 and m.site_job_id <> $2
  and not exists (select from change c where c.feed = m.feed and c.key = m.key
                  and (c.operation = 'delete' or c.reason->>'kind' = 'gone' or c.reason ? 'denied'))`;

const RECENT = 3;
const YOUNGEST = 2;
const ANY = 4;

/** Jobs that the site accepted most recently: expiry is least likely to have removed them. */
export const recentlyAccepted = (db: Queryable, site: SiteName, not?: SiteJobId): Promise<SiteJobId[]> =>
  recent(db, site, ['created', 'accepted'], not);

/** Jobs that the site made most recently. That it shows an older one, which was updated since, says nothing about new ones. */
const recentlyCreated = (db: Queryable, site: SiteName): Promise<SiteJobId[]> => recent(db, site, ['created']);

async function recent(
  db: Queryable,
  site: SiteName,
  outcomes: readonly string[],
  not?: SiteJobId,
): Promise<SiteJobId[]> {
  const rows = await db.query<{ site_job_id: string }>(
    `select m.site_job_id from request r join mapping m on m.feed = r.feed and m.key = r.key
     where r.at > now() - interval '1 day' and r.outcome = any($4::text[]) and r.operation <> 'delete' and ${EXPECTED}
     order by r.at desc limit $3`,
    [site, not ?? '', RECENT, outcomes],
  );
  return uniqueIds(rows);
}

/** Jobs whose deletes the site accepted most recently, and whose IDs no job of ours has. */
export async function recentlyDeleted(db: Queryable, site: SiteName): Promise<SiteJobId[]> {
  const rows = await db.query<{ site_job_id: string }>(
    `select r.site_job_id from request r join feed_state f on f.feed = r.feed
     where r.at > now() - interval '7 days' and r.operation = 'delete' and r.outcome = 'accepted' and f.site = $1
       and not exists (select from mapping m where m.site = $1 and m.site_job_id = r.site_job_id)
     order by r.at desc limit $2`,
    [site, RECENT],
  );
  return uniqueIds(rows);
}

/** The youngest jobs, and some of any age. Reads all mappings of the site. */
export async function sampleOfAges(db: Queryable, site: SiteName, not?: SiteJobId): Promise<SiteJobId[]> {
  const rows = await db.query<{ site_job_id: string }>(
    `with expected as materialized (select m.site_job_id, m.mapped_at from mapping m where ${EXPECTED})
     (select site_job_id from expected order by mapped_at desc limit $3)
     union all (select site_job_id from expected order by random() limit $4)`,
    [site, not ?? '', YOUNGEST, ANY],
  );
  return uniqueIds(rows);
}

/**
 * Whether the site shows another job of ours that should be there; `undefined`: none is known. One about which it gives no clear answer counts
 * as not shown.
 * @param isOver whether nothing more is asked after this failure
 */
export async function showsOther(
  { db, site, ask }: Pick<JobAsker, 'db' | 'site'> & { readonly ask: (id: SiteJobId) => Promise<unknown> },
  than: SiteJobId,
  isOver: (error: unknown) => boolean = () => false,
): Promise<boolean | undefined> {
  let isKnown = false;
  for (const pick of [recentlyAccepted, sampleOfAges])
    for (const other of await pick(db, site, than)) {
      isKnown = true;
      try {
        if ((await ask(other)) !== undefined) return true;
      } catch (error) {
        if (isOver(error)) return false;
      }
    }
  return isKnown ? false : undefined;
}

/** A job with what the site last accepted for it. */
export interface KnownJob {
  readonly feed: FeedName;
  readonly key: PostingKey;
  readonly siteJobId: SiteJobId;
  readonly fields: Fields;
}

/**
 * Jobs of any age, most recently accepted first, as expiry is least likely to have removed those. Excludes jobs with an
 * attempt in flight or an uncertain write.
 */
export async function jobsToCompare(db: Queryable, site: SiteName, most: number): Promise<KnownJob[]> {
  const rows = await db.query<KnownJob>(
    `with expected as materialized (select m.feed, m.key, m.site_job_id, m.mapped_at from mapping m where ${EXPECTED}
         and not exists (select from change c where c.feed = m.feed and c.key = m.key and c.attempt_token is not null)
         and not exists (select from uncertain_write u where u.feed = m.feed and u.key = m.key)
         and exists (select from document d where d.feed = m.feed and d.key = m.key)),
       youngest as (select * from expected order by mapped_at desc limit $3 / 4),
       others as (select * from expected e where not exists (select from youngest y where (y.feed, y.key) = (e.feed, e.key))
         order by random() limit $3 - $3 / 4)
     select x.feed, x.key, x.site_job_id as "siteJobId", d.fields
     from (select 0 as rank, * from youngest union all select 1, * from others) x
     join document d on d.feed = x.feed and d.key = x.key order by x.rank, random()`,
    [site, '', most],
  );
  return rows;
}

/** This few jobs may all have expired; if the site is believed wrongly, no more than these are created twice. */
const FEW_JOBS = 5;

/** Whether the site has at most `most` jobs of ours, all older than a day. */
const areFewAndOld = (db: Queryable, site: SiteName, most: number): Promise<boolean> =>
  readFlag(
    db,
    `select count(*) <= $2 and coalesce(bool_and(mapped_at < now() - interval '1 day'), true) as few_and_old
     from (select mapped_at from mapping where site = $1 limit $2 + 1) m`,
    [site, most],
  );

const uniqueIds = (rows: readonly { site_job_id: string }[]): SiteJobId[] => [
  ...new Set(rows.map((row) => siteJobId(row.site_job_id))),
];

/** The youngest jobs that we made with a reference. */
export async function jobsWithReference(
  db: Queryable,
  site: SiteName,
  referenceField: string,
  most: number,
): Promise<readonly { readonly siteJobId: SiteJobId; readonly fields: Fields }[]> {
  const rows = await db.query<{ id: string; fields: Fields }>(
    `select m.site_job_id as id, d.fields from mapping m join document d on d.feed = m.feed and d.key = m.key
     where ${EXPECTED} and not m.adopted and m.created_by is not null and btrim(coalesce(d.fields->>$3, '')) <> ''
     order by m.mapped_at desc limit $4`,
    [site, '', referenceField, most],
  );
  return rows.map(({ id, fields }) => ({ siteJobId: siteJobId(id), fields }));
}

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
  /** `error`: what kept the site from being asked. */
  | { readonly kind: 'unknown'; readonly message: Message; readonly error?: unknown };

export const checkFailed = (error: unknown): AddressProof => ({
  kind: 'unknown',
  error,
  message: `the job seems to be gone, but checking other jobs failed: ${(error as Error).message}`,
});

/**
 * Explains that a job which the site denies may only be hidden, whatever other jobs it shows; `undefined`: it is visible if it exists.
 * Call it before anything else proves that the job is gone.
 */
export async function explainHidden(
  { db, site }: Pick<JobAsker, 'db' | 'site'>,
  id: SiteJobId,
): Promise<Message | undefined> {
  if (!(await mayBeHidden(db, site, id))) return undefined;
  return seemsGone(
    site,
    `it has not shown job ${id} since it created it, and is not known to show each new job at once. Look for it on the site`,
  );
}

const seemsGone = (site: SiteName, why: string): Message =>
  messageOf(`the job seems to be gone, but the site may only not show it: ${why}`, [
    {
      words: 'if it was really removed there, send the change again after',
      action: { kind: 'resume_site', site, because: 'emptied' },
    },
  ]);

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
      const last = `${plural(hidden.length, 'job')} that it accepted last (${hidden.join(', ')})`;
      return { kind: 'unknown', message: seemsGone(site, `of ${last}, it shows none`) };
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

/** A longer list of jobs with two IDs proves nothing. */
const MOST_NUMBERS = 200_000;

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
  /** Where the address of a job has a name, its XML may have a number. */
  const numbers = expected.some((id) => numberIn(id) === undefined) ? new Set<SiteJobId>() : undefined;
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
        if (shown === undefined) continue;
        if (shown.ownId !== undefined && (numbers?.has(shown.ownId) === true || (await isListed(shown.ownId)))) {
          unlisted.delete(id);
          continue;
        }
      } catch (error) {
        return `The list may be incomplete or outdated: job ${id} is not in it, and checking it failed: ${(error as Error).message}`;
      }
      await noteShownJobs(db, site, [id]);
      return `The list is incomplete or outdated: job ${id} is on the site but not in the list, or not under this ID`;
    }
    return undefined;
  }

  return {
    take({ siteJobId }) {
      taken.push(siteJobId);
      if (numbers !== undefined && numbers.size < MOST_NUMBERS) numbers.add(siteJobId);
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
