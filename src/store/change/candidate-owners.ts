// Finds out whose a site job is: owned by a posting, shown with its reference, refused by a person, or proven by values that no other has.
import { takenForm } from '../../plan/desired-change.ts';
import { comparePosting } from '../../plan/match/compare-job.ts';
import { type AdoptRules, isTextField } from '../../plan/match/job-features.ts';
import type { OpenCreate } from '../../plan/match/open-contents.ts';
import { SHARED_JOB_WINDOW_HOURS } from '../../plan/match/whose-job.ts';
import { fieldOf, type StatedTypes } from '../../plan/same-meaning.ts';
import type { PostingKey, PostingRef, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import { auditAction } from '../access/audit.ts';
import { forgetVersions } from '../feed/feed-state.ts';
import { lockOutcomesShared } from '../locks/advisory-locks.ts';
import { toJsonb } from '../postgres/copy-rows.ts';
import {
  columnsOf,
  type Queryable,
  readColumn,
  readMap,
  readValue,
  returnsRow,
  type Stored,
  withoutNulls,
} from '../postgres/database.ts';
import { noteSign } from '../site/ahead-signs.ts';
import { areOfOneJob, numberOfTitled } from '../site/kept-values.ts';
import { namesOfSite } from '../site/known-address.ts';
import { type Attempt, type FreedValues, idOf } from './attempt.ts';

const NUMBER = numberOfTitled('site_job_id');

/** The job IDs out of `ids` that belong to a mapping of the site or are orphans, perhaps under an ID with their title. */
export const ownedJobIds = async (db: Queryable, site: SiteName, ids: readonly SiteJobId[]): Promise<Set<SiteJobId>> =>
  new Set(
    await readColumn<SiteJobId>(
      db,
      `select site_job_id from mapping where site = any($1::text[]) and site_job_id = any($2::text[])
     union select ${NUMBER} from mapping where site = any($1::text[]) and ${NUMBER} = any($2::text[])
     union select site_job_id from orphan_site_job where site = any($1::text[]) and site_job_id = any($2::text[])
     union select ${NUMBER} from orphan_site_job where site = any($1::text[]) and ${NUMBER} = any($2::text[])`,
      [await namesOfSite(db, site), ids],
    ),
  );

export interface OwnedJob extends PostingRef {
  /** What the site last accepted; `undefined` if unknown. */
  readonly fields: Fields | undefined;
  /** A request for the posting may be changing the job. */
  readonly inFlight: boolean;
}

/** The jobs that postings own, by job ID; a posting may have its job under an ID with the title. */
export async function ownedJobs(
  db: Queryable,
  site: SiteName,
  ids: readonly SiteJobId[],
): Promise<ReadonlyMap<SiteJobId, OwnedJob>> {
  const rows = await db.query<Stored<OwnedJob> & { readonly id: SiteJobId }>(
    `select m.id, m.feed, m.key, d.fields,
       exists (select from change c where c.feed = m.feed and c.key = m.key and c.attempt_token is not null) as "inFlight"
     from (select feed, key, site_job_id as id from mapping where site = any($1::text[]) and site_job_id = any($2::text[])
       union all select feed, key, ${NUMBER} from mapping where site = any($1::text[]) and ${NUMBER} = any($2::text[])) m
     left join document d on d.feed = m.feed and d.key = m.key`,
    [await namesOfSite(db, site), ids],
  );
  return new Map(rows.map(({ id, ...job }) => [id, withoutNulls<OwnedJob>(job)]));
}

/** An open attempt with the reference that it sent. */
export interface OpenReference extends PostingRef {
  readonly reference: string;
}

/** The open attempts of the site that sent a reference. */
export async function openReferences(
  db: Queryable,
  site: SiteName,
  referenceField: string,
): Promise<readonly OpenReference[]> {
  return db.query(
    `select feed, key, coalesce(sent_fields, fields)->>$2 as reference from change
     where site = any($1::text[]) and state in ('sending', 'in_doubt') and coalesce(sent_fields, fields)->>$2 <> ''`,
    [await namesOfSite(db, site), referenceField],
  );
}

/** The keys out of `postings` that another feed of the site has too, as `feed key`. */
export async function sharedKeys(
  db: Queryable,
  site: SiteName,
  postings: readonly PostingRef[],
): Promise<ReadonlySet<string>> {
  const rows = await db.query<PostingRef>(
    `select p.feed, p.key from unnest($2::text[], $3::text[]) p(feed, key)
     where exists (select from feed_state f where f.site = $1 and f.feed <> p.feed
       and (exists (select from mapping m where m.feed = f.feed and m.key = p.key)
         or exists (select from change c where c.feed = f.feed and c.key = p.key)))`,
    [site, ...columnsOf(postings, 'feed', 'key')],
  );
  return new Set(rows.map(idOf));
}

/** A posting, and a job that may be its own. */
interface PossiblePair extends PostingRef {
  readonly siteJobId: SiteJobId;
}

/** The jobs of which a person has said that they are not the posting's, as `feed key job`. */
export const refutedJobs = async (
  db: Queryable,
  site: SiteName,
  pairs: readonly PossiblePair[],
): Promise<ReadonlySet<string>> =>
  new Set(
    await readColumn<string>(
      db,
      `select concat_ws(' ', p.feed, p.key, p.id) from unnest($2::text[], $3::text[], $4::text[]) p(feed, key, id)
     join refuted_job x on x.feed = p.feed and x.key = p.key and x.site = $1 and x.site_job_id = p.id`,
      [site, ...columnsOf(pairs, 'feed', 'key', 'siteJobId')],
    ),
  );

/** When the site last deleted, for the posting, those of these jobs that it has deleted, as `feed key job`. */
export const deletedJobs = (db: Queryable, pairs: readonly PossiblePair[]): Promise<ReadonlyMap<string, Date>> =>
  readMap(
    db,
    `select concat_ws(' ', p.feed, p.key, p.id), max(q.at) from unnest($1::text[], $2::text[], $3::text[]) p(feed, key, id)
     join request q on q.feed = p.feed and q.key = p.key
     where q.operation = 'delete' and q.outcome in ('accepted', 'gone') and (q.site_job_id = p.id or ${numberOfTitled('q.site_job_id')} = p.id)
     group by p.feed, p.key, p.id`,
    columnsOf(pairs, 'feed', 'key', 'siteJobId'),
  );

/** A posting for which the site deleted a job, and when it last did. */
export interface DeletedFor extends PostingRef {
  readonly at: Date;
}

/** The postings for which the site has deleted these jobs, by job ID; a posting may have had its job under an ID with the title. */
export async function deletedFor(
  db: Queryable,
  site: SiteName,
  ids: readonly SiteJobId[],
): Promise<ReadonlyMap<SiteJobId, readonly DeletedFor[]>> {
  const rows = await db.query<DeletedFor & { readonly id: SiteJobId }>(
    `select i.id, q.feed, q.key, max(q.at) as at from unnest($2::text[]) i(id)
     join request q on q.operation = 'delete' and (q.site_job_id = i.id or ${numberOfTitled('q.site_job_id')} = i.id)
     join feed_state f on f.feed = q.feed and f.site = any($1::text[])
     where q.outcome in ('accepted', 'gone') group by i.id, q.feed, q.key`,
    [await namesOfSite(db, site), ids],
  );
  const byId = new Map<SiteJobId, DeletedFor[]>();
  for (const { id, ...one } of rows) byId.set(id, [...(byId.get(id) ?? []), one]);
  return byId;
}

/** SQL: the references that postings of the sites $1 have sent, or will send, in the field $2. */
const SENT_REFERENCES = `select m.feed, m.key, d.fields->>$2 as reference from mapping m join document d on d.feed = m.feed and d.key = m.key
    where m.site = any($1::text[])
  union all
  select c.feed, c.key, r.reference from change c, unnest(array[c.fields->>$2, c.sent_fields->>$2]) r(reference)
    where c.site = any($1::text[])`;

/** Another posting of the site that has sent, or will send, this reference; scans all of the site's postings. */
export const ownerOfReference = async (
  db: Queryable,
  { feed, key, site }: Pick<Attempt, 'feed' | 'key' | 'site'>,
  referenceField: string,
  reference: string,
): Promise<string | undefined> =>
  readValue<string>(
    db,
    `select 'posting ' || key || ' of feed ' || feed as owner from (${SENT_REFERENCES}) p
     where reference = $3 and (feed, key) <> ($4, $5) limit 1`,
    [await namesOfSite(db, site), referenceField, reference, feed, key],
  );

/** Those of the postings whose reference another posting of the site has sent, or will send, too; scans all of the site's postings once. */
export const withSharedReference = async <Posting extends PostingRef>(
  db: Queryable,
  site: SiteName,
  referenceField: string,
  postings: ReadonlyMap<Posting, string>,
): Promise<ReadonlySet<Posting>> => {
  if (postings.size === 0) return new Set();
  const rows = await db.query<PostingRef>(
    `select distinct w.feed, w.key from unnest($3::text[], $4::text[], $5::text[]) w(feed, key, reference)
     join (${SENT_REFERENCES}) p on p.reference = w.reference and (p.feed, p.key) <> (w.feed, w.key)`,
    [
      await namesOfSite(db, site),
      referenceField,
      ...columnsOf([...postings.keys()], 'feed', 'key'),
      [...postings.values()],
    ],
  );
  const shared = new Set(rows.map(idOf));
  return new Set([...postings.keys()].filter((posting) => shared.has(idOf(posting))));
};

/**
 * Another posting of the site with the reference that a job shows, in the form to compare. A reference that the posting has itself proves
 * nothing, whoever else has it.
 */
export async function otherOwnerOf(
  db: Queryable,
  { fields, ...posting }: Pick<Attempt, 'feed' | 'key' | 'site'> & { readonly fields: Fields },
  shown: Fields,
  referenceField: string | undefined,
): Promise<string | undefined> {
  const reference = referenceField === undefined ? undefined : fieldOf(shown, referenceField)?.trim();
  if (referenceField === undefined || !reference) return undefined;
  if (fieldOf(fields, referenceField)?.trim() === reference) return undefined;
  return ownerOfReference(db, posting, referenceField, reference);
}

/** Beyond so many, the others are left out: what is not certain by itself is unsure then. */
const MOST_OPEN_CREATES = 10_000;

export interface OpenCreates {
  readonly creates: readonly OpenCreate[];
  /** Others were left out, so a job may be theirs. */
  readonly areCut: boolean;
}

/** The open creates of all feeds of the site, the oldest first. */
export async function openCreates(
  db: Queryable,
  site: SiteName,
  most: number = MOST_OPEN_CREATES,
): Promise<OpenCreates> {
  const rows = await db.query<Stored<OpenCreate>>(
    `select feed, key, id as entry, coalesce(sent_fields, fields) as fields,
       encode(coalesce(sent_content_hash, content_hash), 'hex') as "contentHash",
       case when found_job_id is null then least(doubted_since, attempt_started) end as "startedAt", state = 'in_doubt' as "isInDoubt"
     from change where site = any($1::text[]) and state in ('sending', 'in_doubt') and attempt_operation = 'create'
       and coalesce(sent_fields, fields) is not null
     order by attempt_started limit $2`,
    [await namesOfSite(db, site), most + 1],
  );
  return { creates: rows.slice(0, most).map(withoutNulls<OpenCreate>), areCut: rows.length > most };
}

/** A value that a posting sends in a field. */
export interface SentValue {
  readonly name: string;
  readonly value: string;
}

/**
 * Texts and addresses that differ only by tags, signs, spaces, case, scheme or a slash have the same form, in SQL. Other rewritings are
 * compared by digests: postings of one site hardly differ from each other by those.
 */
const formSql = (value: string): string =>
  `lower(regexp_replace(replace(replace(${value}, '&lt;', '<'), '&gt;', '>'), '^\\s*https?://(www\\.)?|<[^>]*>|&#?[a-z0-9]+;|[[:space:]!-/:-@\\[-\`{-~]', '', 'gi'))`;

/** Long texts that begin alike are compared whole. */
const beginningSql = (value: string): string => `left(${formSql(`left(${value}, 600)`)}, 60)`;

/** The values that more than one posting of the site has in any form, as `name value`. Reads all postings of the site. */
export async function sharedValues(
  db: Queryable,
  site: SiteName,
  values: readonly SentValue[],
): Promise<ReadonlySet<string>> {
  const shared = new Set<string>();
  const sites = await namesOfSite(db, site);
  for (const name of new Set(values.map((one) => one.name))) {
    const asked = [...new Set(values.flatMap((one) => (one.name === name ? one.value : [])))];
    const found = await readColumn<string>(
      db,
      `with asked as materialized (select a.value, ${formSql('a.value')} as form, ${beginningSql('a.value')} as beginning
         from unnest($3::text[]) a(value)),
       sent as (
         select d.feed, d.key, ${valueSql('d.fields')} as value from document d
         where exists (select from mapping m where m.feed = d.feed and m.key = d.key and m.site = any($1::text[]))
         union all select feed, key, ${valueSql('fields')} from change where site = any($1::text[])
         union all select feed, key, ${valueSql('sent_fields')} from change where site = any($1::text[])),
       alike as materialized (
         select feed, key, value from sent
         where value is not null and ${beginningSql('value')} = any(array(select beginning from asked)))
       select a.value from asked a join alike s on ${formSql('s.value')} = a.form
       group by a.value having count(distinct (s.feed, s.key)) > 1`,
      [sites, [...new Set([name, name.replaceAll('_', '-'), name.replaceAll('-', '_')])], asked],
    );
    for (const value of found) shared.add(`${name} ${value}`);
  }
  return shared;
}

/** For each list, the dashed names of the values that more than one posting of the site has. */
export type FindSharedNames = (lists: readonly (readonly SentValue[])[]) => Promise<readonly ReadonlySet<string>[]>;

export const sharedNames =
  (db: Queryable, site: SiteName): FindSharedNames =>
  async (lists) => {
    const all = lists.flat();
    return namesIn(lists, all.length === 0 ? new Set() : await sharedValues(db, site, all));
  };

const namesIn = (lists: Parameters<FindSharedNames>[0], shared: ReadonlySet<string>) =>
  lists.map((values) => new Set(values.flatMap((one) => (shared.has(nameOfValue(one)) ? dashed(one.name) : []))));

const nameOfValue = ({ name, value }: SentValue): string => `${name} ${value}`;

const OPEN_AT_ONCE = 500;
const KEPT_MS = 60_000;

/** The same, asked for one update or delete after the other: the values of those that come next are looked up with it, and count for a minute. */
export function sharedNamesOfOpen(db: Queryable, site: SiteName): FindSharedNames {
  type Known = { readonly until: number; readonly asked: ReadonlySet<string>; readonly shared: ReadonlySet<string> };
  let looking: Promise<Known> | undefined;

  async function look(values: readonly SentValue[]): Promise<Known> {
    const next = await db.query<{ fields: Fields }>(
      `select d.fields from change c join document d on d.feed = c.feed and d.key = c.key
       where c.site = $1 and c.operation <> 'create' and c.state in ('ready', 'sending') and c.not_before <= now()
       order by c.id limit ${OPEN_AT_ONCE}`,
      [site],
    );
    const names = new Set(values.map(({ name }) => dashed(name)));
    const all = [...values, ...next.flatMap(({ fields }) => sentValuesOf(fields, names))];
    const shared = await sharedValues(db, site, all);
    return { until: performance.now() + KEPT_MS, asked: new Set(all.map(nameOfValue)), shared };
  }

  return async (lists) => {
    const values = lists.flat();
    if (values.length === 0) return namesIn(lists, new Set());
    for (;;) {
      const current = looking;
      const known = await current;
      if (
        known !== undefined &&
        known.until > performance.now() &&
        values.every((one) => known.asked.has(nameOfValue(one)))
      )
        return namesIn(lists, known.shared);
      if (current !== looking) continue;
      looking = look(values).catch((error) => {
        looking = undefined;
        throw error;
      });
    }
  };
}

/** The value of a field under any spelling of its name. */
const valueSql = (fields: string): string =>
  `(select ${fields}->>n from unnest($2::text[]) n where ${fields}->>n is not null limit 1)`;

/** A posting that has a job, and what the job shows now. */
export interface PostingAndJob {
  readonly key: PostingKey;
  /** What the site accepted. */
  readonly fields: Fields;
  /** What the job shows, in the form in which it is compared. */
  readonly shown: { readonly fields: Fields; readonly types?: StatedTypes | undefined };
}

/**
 * Whether each of the jobs is certainly its posting's, although it shows another title and no reference: it shows the text of the posting
 * whole, no other place and no other identifying value, and no other posting of the site has that text or those values. Addresses alone prove
 * nothing: an employer uses them for other jobs, too. Of a site that shows references (`rules.showsReferences`), no job without one is. Reads
 * all postings of the site, once, if there is a job that may be.
 */
export async function provenByValues(
  db: Queryable,
  site: SiteName,
  rules: AdoptRules,
  pairs: readonly PostingAndJob[],
  findShared: FindSharedNames = sharedNames(db, site),
): Promise<readonly boolean[]> {
  const compared = pairs.map(({ shown, ...posting }) => {
    // Without the bare forms, the beginning of a value is not taken for a value that was cut: it may be another one's whole value.
    const comparison = comparePosting(posting, shown, rules);
    const { identities } = comparison;
    const mayBe = identities.some(isTextField) && comparison.likeness({ shared: new Set() }) === 'match';
    return { comparison, values: mayBe ? sentValuesOf(posting.fields, identities) : [] };
  });
  const lists = compared.map(({ values }) => values);
  const shared = await findShared(lists);
  return compared.map(
    ({ comparison, values }, at) => values.length > 0 && comparison.likeness({ shared: shared[at] }) === 'match',
  );
}

/** The values of these names, which are dashed, as they are stored. */
export function sentValuesOf(fields: Fields, names: readonly string[] | ReadonlySet<string>): SentValue[] {
  const wanted = new Set(names);
  return Object.entries(fields).flatMap(([name, value]) => (wanted.has(dashed(name)) ? [{ name, value }] : []));
}

const dashed = (name: string): string => name.replaceAll('_', '-');

// Which posting owns a site job, and how that ends when the site has returned its ID for a later create: the older job is gone.

/** The posting that owns the job so far. */
export interface JobOwner extends PostingRef {
  readonly site: SiteName;
  /** The ID in the posting's mapping. */
  readonly siteJobId: SiteJobId;
  /** What the site last accepted; `undefined` if unknown. */
  readonly fields: Fields | undefined;
}

/** The posting that owns the job under one of these names of a site, perhaps by another form of its ID, locked until the transaction ends. */
export async function lockOwner(
  tx: Queryable,
  sites: readonly SiteName[],
  id: SiteJobId,
): Promise<JobOwner | undefined> {
  const [row] = await tx.query<Stored<JobOwner>>(
    `select m.site_job_id as "siteJobId", m.site, m.feed, m.key, d.fields
     from mapping m left join document d on d.feed = m.feed and d.key = m.key
     where m.site = any($1::text[]) and ${areOfOneJob('m.site_job_id', '$2::text')}
     order by m.site_job_id <> $2 limit 1 for update of m`,
    [sites, id],
  );
  return row && withoutNulls<JobOwner>(row);
}

/** Whether the posting recently lost the job of this ID: then the site passes one job between two postings. */
export async function hasLostOwnership(tx: Queryable, posting: PostingRef, site: SiteName, id: SiteJobId) {
  return returnsRow(
    tx,
    `select from ended_claim where site = $1 and ${areOfOneJob('site_job_id', '$2::text')} and feed = $3 and key = $4
       and ended_at > now() - make_interval(hours => $5)`,
    [site, id, posting.feed, posting.key, SHARED_JOB_WINDOW_HOURS],
  );
}

/**
 * Ends the ownership. A pending delete has nothing left to delete; a posting still in its feed is created again by its open
 * change or by the next pull. A request in flight for it continues and may still reach the job.
 * @returns whether a request for it is in flight, or may still arrive.
 */
export async function endOwnership(tx: Queryable, older: JobOwner, taker: PostingRef): Promise<boolean> {
  const { site, siteJobId: id, feed, key } = older;
  await lockOutcomesShared(tx, [feed]);
  await tx.query('delete from mapping where feed = $1 and key = $2 and site_job_id = $3', [feed, key, id]);
  await tx.query('delete from document where feed = $1 and key = $2', [feed, key]);
  const uncertain = await tx.query<{ may_land: boolean }>(
    'delete from uncertain_write where feed = $1 and key = $2 returning until > now() as may_land',
    [feed, key],
  );
  // A worker that has already read the mapping holds the old revision, so it cannot claim anything for the job.
  await tx.query(
    `update change set revision = nextval('revision_number'),
       operation = case when desired = 'present' then 'create' else 'delete' end,
       state = case when desired = 'absent' then 'ready' else state end,
       since = case when desired = 'absent' then now() else since end,
       not_before = case when desired = 'absent' then '-infinity' else not_before end
     where feed = $1 and key = $2 and attempt_token is null`,
    [feed, key],
  );
  const sending = await tx.query('select from change where feed = $1 and key = $2 and attempt_token is not null', [
    feed,
    key,
  ]);
  await tx.query('delete from ended_claim where ended_at < now() - make_interval(hours => $1)', [
    SHARED_JOB_WINDOW_HOURS,
  ]);
  await tx.query(
    `insert into ended_claim (site, site_job_id, feed, key) values ($1, $2, $3, $4)
     on conflict (site, site_job_id, feed, key) do update set ended_at = now()`,
    [site, id, feed, key],
  );
  await noteSign(tx, site, id);
  await sendTakenAgain(tx, freedUnknown(site));
  await forgetVersions(tx, [feed]);
  const detail = { site, siteJobId: id, takenBy: taker };
  const actor = 'jobmirror';
  const given = `the site gave it to posting ${taker.key} of feed ${taker.feed}`;
  await auditAction(tx, { actor, action: `end the claim to job ${id}: ${given}`, feed, key, detail });
  const before = `posting ${key} of feed ${feed} had it before`;
  await auditAction(tx, {
    actor,
    action: `take job ${id}: ${before}`,
    feed: taker.feed,
    key: taker.key,
    detail: { ...detail, from: { feed, key } },
  });
  return sending.length > 0 || uncertain.some(({ may_land }) => may_land);
}

// Values that jobs of ours no longer have.

/** How many rejected ones are sent again for each such job, the longest rejected first: most of them will be refused again. */
const MOST_AGAIN = 50;
const MOST_AGAIN_UNKNOWN = 500;

/**
 * Creates and updates that the site refused for what another job had, which no longer has it, are sent again: rejected → ready. The attempts of those in
 * flight, or in doubt, begin anew, so that an answer from before does not count. Discarded ones are sent once they are reopened. What counts is the
 * reference, or the fields in `takenBy`, all of them; for one in flight, the reference or the title. Sites compare references in any case.
 */
export async function sendTakenAgain(
  tx: Queryable,
  freed: readonly (FreedValues & { readonly site: SiteName })[],
): Promise<void> {
  if (freed.length === 0) return;
  const rows = freed.map(({ site, reference, values, replaced }) => {
    const named = values && Object.entries(values).map(([name, value]) => [dashed(name), value] as const);
    return {
      site,
      reference: reference && dashed(reference),
      replaced: replaced && toJsonb(replaced.map(dashed)),
      values: named && toJsonb(Object.fromEntries(named)),
      forms: named && toJsonb(Object.fromEntries(named.map(([name, value]) => [name, takenForm(value)]))),
    };
  });
  const most = freed.reduce((sum, { values }) => sum + (values === undefined ? MOST_AGAIN_UNKNOWN : MOST_AGAIN), 0);
  // A change whose attempt is being recorded is waited for, and judged by what it has become.
  await tx.query(
    `with freed as materialized (
       select n.site, f.reference, f.replaced, f.values, f.forms
       from unnest($1::text[], $2::text[], $3::jsonb[], $4::jsonb[], $5::jsonb[]) f(site, reference, replaced, values, forms),
         lateral (select f.site union select o.site from site_state s join site_state o on o.address = s.address where s.site = f.site) n(site)),
     sites as (select array_agg(distinct site) as names from freed),
     refused as materialized (select id, site, state, since, reason, fields, sent_fields from change where site = any((select names from sites)::text[]) and reason ? 'taken'),
     flight as materialized (select id from change where site = any((select names from sites)::text[]) and state = 'sending'),
     combined as materialized (
       select f.site, t.names, (select string_agg(f.forms->>${DASHED}, ' ' order by at) from jsonb_array_elements_text(t.names) with ordinality x(n, at)) as form
       from freed f cross join (select distinct reason->'takenBy' as names from refused where reason ? 'takenBy') t
       where f.replaced is null or exists (select from jsonb_array_elements_text(t.names) n where f.replaced ? ${DASHED})),
     left_over as (select c.id from refused c where c.state = 'rejected' and (${IS_FREED}) order by c.since offset $6)
     update change c set attempts = 0,
       reason = case c.state when 'rejected' then null when 'discarded' then c.reason || '{"taken": []}' else c.reason end,
       ${WHEN_REJECTED.map(([name, value]) => `${name} = case when c.state = 'rejected' then ${value} else c.${name} end`).join(', ')}
     where c.id in (select id from refused union all select id from flight) and c.desired = 'present'
       and (c.state = 'sending' or (c.state in ('rejected', 'in_doubt', 'discarded') and c.reason ? 'taken'))
       and (${IS_FREED} or c.id in (select id from flight) and exists (
         select from freed f where f.site = c.site and (${sendsFreed('f.reference')} or ${sendsFreed(`'title'`)})))
       and c.id not in (select id from left_over)`,
    [...columnsOf(rows, 'site', 'reference', 'replaced', 'values', 'forms'), most],
  );
}

const DASHED = `replace(n, '_', '-')`;

/** Whether the change sends the value of the field that the job no longer has. */
const sendsFreed = (field: string): string =>
  `((f.replaced is null or f.replaced ? ${field}) and lower(btrim(f.values->>${field})) in (${[
    field,
    `replace(${field}, '-', '_')`,
  ]
    .map((name) => `lower(btrim(coalesce(c.sent_fields, c.fields)->>${name}))`)
    .join(', ')}))`;

const IS_FREED = `exists (select from freed f where f.site = c.site and f.values is null)
  or case when c.reason ? 'takenBy' then (c.site, c.reason->'takenBy', c.reason->>'takenForm') in (select site, names, form from combined)
    else exists (select from freed f where f.site = c.site and ${sendsFreed('f.reference')}) end`;

const WHEN_REJECTED = [
  ['state', `'ready'`],
  ['since', 'now()'],
  ['not_before', `'-infinity'`],
  ['revision', `nextval('revision_number')`],
] as const;

/** Of a job of which nothing is known. */
export const freedUnknown = (site: SiteName) => [{ site, reference: undefined, values: undefined }];
