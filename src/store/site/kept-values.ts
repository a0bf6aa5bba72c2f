// What a site keeps of what it is sent: whether it stores and shows the reference, and how it rewrites values.
import { type Message, messageOf } from '../../plan/message.ts';
import type { LearntRewrite, LearntRewrites, Observation, RewriteKind } from '../../plan/observe-values.ts';
import { type SiteJobId, type SiteName, siteJobId } from '../../posting/identifiers.ts';
import { toJsonb } from '../postgres/copy-rows.ts';
import { columnsOf, type Queryable, readColumn, returnsRow } from '../postgres/database.ts';

/**
 * - `unknown`: no job of ours was looked at.
 * - `shown`: every job that was looked at shows a reference.
 * - `missing`: none does: the site is one without references.
 * - `some`: some do, so that a job without one may still be any posting's.
 */
export const REFERENCE_STATES = ['unknown', 'shown', 'missing', 'some'] as const;
export type ReferenceState = (typeof REFERENCE_STATES)[number];

/** The reference of a site, as this process is configured. */
export interface SiteReference {
  readonly site: SiteName;
  /** See `addressOf`. */
  readonly address: string;
  readonly field: string;
}

export async function referenceState(db: Queryable, { site, address, field }: SiteReference): Promise<ReferenceState> {
  const [row] = await db.query<{ shown: boolean; missing: boolean }>(
    `select reference_shown_at is not null as shown, reference_missing_at is not null as missing from site_state
     where site = $1 and reference_field = $2 and reference_address = $3`,
    [site, field, address],
  );
  if (row?.shown === true) return row.missing ? 'some' : 'shown';
  return row?.missing === true ? 'missing' : 'unknown';
}

/** What a job showed: a reference, or, although it was sent one, everything else but none. */
export type ReferenceEvidence =
  | { readonly kind: 'shown' }
  | { readonly kind: 'missing'; readonly siteJobId: SiteJobId };

/**
 * Adds what a job showed. What is known of another field, or of the site at another address, is forgotten.
 * @returns the state, if it is a new one.
 */
export async function noteReference(
  db: Queryable,
  reference: SiteReference,
  evidence: ReferenceEvidence,
): Promise<ReferenceState | undefined> {
  const { site, address, field } = reference;
  const isShown = evidence.kind === 'shown';
  const [row] = await db.query<{ shown: boolean; missing: boolean }>(
    `insert into site_state as s (site, reference_field, reference_address, reference_shown_at, reference_missing_at, reference_missing_job)
     values ($1, $2, $3, case when $4 then now() end, case when not $4 then now() end, $5)
     on conflict (site) do update set reference_field = $2, reference_address = $3,
       reference_shown_at = coalesce(case when ${IS_SAME} then s.reference_shown_at end, excluded.reference_shown_at),
       reference_missing_at = coalesce(case when ${IS_SAME} then s.reference_missing_at end, excluded.reference_missing_at),
       reference_missing_job = coalesce(case when ${IS_SAME} then s.reference_missing_job end, excluded.reference_missing_job)
     where not ${IS_SAME} or case when $4 then s.reference_shown_at is null else s.reference_missing_at is null end
     returning reference_shown_at is not null as shown, reference_missing_at is not null as missing`,
    [site, field, address, isShown, isShown ? null : evidence.siteJobId],
  );
  if (row === undefined) return undefined;
  if (row.shown) return row.missing ? 'some' : 'shown';
  await noteForFeeds(db, site, describeMissing(field));
  return 'missing';
}

const IS_SAME = '(s.reference_field is not distinct from $2 and s.reference_address is not distinct from $3)';

/** The next report of each of the site's feeds says it. */
const noteForFeeds = (db: Queryable, site: SiteName, note: Message) =>
  db.query(
    `update feed_state set site_check_note = $2 where site = $1 and site_checked_at is not null and site_check_note is null`,
    [site, toJsonb(note)],
  );

/** What people should know of a site in this state; `undefined`: nothing. */
export function describeReference(field: string, state: ReferenceState): Message | undefined {
  if (state === 'missing') return describeMissing(field);
  if (state !== 'some') return undefined;
  return (
    `the site shows reference_field ${field} for some of its jobs only: whether a job without it belongs to a posting, a person decides ` +
    'more often'
  );
}

const describeMissing = (field: string): Message =>
  messageOf(
    `the site does not keep reference_field ${field}: a job that was sent it shows everything else, but not this field. jobmirror treats ` +
      'it as a site without references until a job shows one',
    [
      {
        words: `To have jobs told by their references, name a field in reference_field that the site stores and shows`,
      },
    ],
  );

/** The reference field, unless the site is known not to keep it. */
export async function keptReference(
  db: Queryable,
  site: { readonly name: SiteName; readonly address: string; readonly referenceField: string | undefined },
): Promise<string | undefined> {
  const { name, address, referenceField: field } = site;
  if (field === undefined) return undefined;
  return (await referenceState(db, { site: name, address, field })) === 'missing' ? undefined : field;
}

/** Whether jobs of the site are known to show this field as their reference, at whatever address. */
export const hasShownReferences = (db: Queryable, site: SiteName, field: string | undefined): Promise<boolean> =>
  returnsRow(db, 'select from site_state where site = $1 and reference_field = $2 and reference_shown_at is not null', [
    site,
    field ?? null,
  ]);

/** Limits of rewritings per field and of fields per site; further ones are not learnt. */
const MOST_PER_FIELD = 8;
const MOST_FIELDS = 200;
/** Longest addition to a value that is stored. */
const MOST_DETAIL = 100;

export async function learntRewrites(db: Queryable, site: SiteName): Promise<LearntRewrites> {
  const rows = await db.query<{ field: string; kind: RewriteKind; detail: string; seen: number; taught: boolean }>(
    'select field, kind, detail, seen, taught from value_rewrite where site = $1 order by field, kind, detail',
    [site],
  );
  const learnt = new Map<string, LearntRewrite[]>();
  for (const { field, taught, ...plain } of rows) {
    const rewrite: LearntRewrite = taught ? { ...plain, taught } : plain;
    const known = learnt.get(field);
    if (known === undefined) learnt.set(field, [rewrite]);
    else known.push(rewrite);
  }
  return learnt;
}

/**
 * Records rewritings with how often they were observed, at least. Recording the same again changes nothing.
 * @param taught whether a person has confirmed that the site shows the value that was sent.
 */
export async function noteRewrites(
  db: Queryable,
  site: SiteName,
  observed: readonly (Observation & { readonly seen: number })[],
  taught = false,
): Promise<void> {
  const kept = observed
    .filter(({ field, detail }) => field.length <= MOST_DETAIL && detail.length <= MOST_DETAIL)
    .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  if (kept.length === 0) return;
  await db.query(
    `insert into value_rewrite as v (site, field, kind, detail, seen, taught)
     select $1, o.field, o.kind, o.detail, o.seen, $6::boolean
     from unnest($2::text[], $3::text[], $4::text[], $5::int[]) o(field, kind, detail, seen)
     where exists (select from value_rewrite w
                   where w.site = $1 and w.field = o.field and w.kind = o.kind and w.detail = o.detail)
       or ((select count(*) from value_rewrite w where w.site = $1 and w.field = o.field) < ${MOST_PER_FIELD}
         and (select count(distinct w.field) from value_rewrite w where w.site = $1 and w.field <> o.field) < ${MOST_FIELDS})
       or $6::boolean
     on conflict (site, field, kind, detail) do update set seen = greatest(v.seen, excluded.seen),
       taught = v.taught or excluded.taught
     where v.seen < excluded.seen or excluded.taught and not v.taught`,
    [site, ...columnsOf(kept, 'field', 'kind', 'detail', 'seen'), taught],
  );
}

/** Another site under the same name rewrites differently. */
export async function forgetRewrites(db: Queryable, site: SiteName): Promise<void> {
  await db.query('delete from value_rewrite where site = $1', [site]);
}

/** One order everywhere, so that two processes do not block each other. */
const nameOf = ({ field, kind, detail }: Observation): string => `${field} ${kind} ${detail}`;

// Recognises a job that a mapping names by another form of its ID: sites return `/jobs/12-nurse`, and list job 12.

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

/** The ID of the job that was mapped last. */
export async function newestJobId(db: Queryable, site: SiteName): Promise<SiteJobId | undefined> {
  const [row] = await db.query<{ id: string }>(
    'select site_job_id as id from mapping where site = $1 order by mapped_at desc limit 1',
    [site],
  );
  return row && siteJobId(row.id);
}

/** IDs of mappings that a list may name otherwise, and that {@link numberOfTitled} does not read: with zeros in front, or a capital. */
export const idsInOtherForms = async (db: Queryable, site: SiteName): Promise<ReadonlySet<string>> =>
  new Set(
    await readColumn<string>(
      db,
      `select site_job_id as id from mapping where site = $1 and site_job_id ~ '^(0|[0-9]+-[A-Z])' limit 500000`,
      [site],
    ),
  );

/** The number of an ID, however it is written; `undefined`: it is none. */
export const numberIn = (id: SiteJobId): SiteJobId | undefined => {
  const number = /^0*([1-9]\d*)(-[a-z].*)?$/i.exec(id)?.[1];
  return number === undefined ? undefined : siteJobId(number);
};

/** The number in an ID with a title; `undefined`: it is no such ID. */
export const titledNumber = (id: SiteJobId): SiteJobId | undefined => {
  const number = /^([0-9]+)-[a-z]/.exec(id)?.[1];
  return number === undefined ? undefined : siteJobId(number);
};
