// Stores the site jobs that no mapping owns, as readings of the site's list found them, and the forms in which their references are compared.

import { createHash } from 'node:crypto';
import { blockingKeysOfJob, type JobFeatures } from '../../plan/match/job-features.ts';
import { compareReferences, referenceForm } from '../../plan/same-meaning.ts';
import type { SiteJobId, SiteName } from '../../posting/identifiers.ts';
import { toJsonb } from '../postgres/copy-rows.ts';
import { type Queryable, readMap, readNumber } from '../postgres/database.ts';
import { isTitled } from './kept-values.ts';

/** A site job that no mapping owns, with what it shows. */
export interface FoundJob {
  readonly siteJobId: SiteJobId;
  readonly reference: string | undefined;
  /** The reference contains the token, so it must not be readable in the database. */
  readonly isSecret: boolean;
  /** What is compared of it, from its fields in the form that may be stored; absent: only its reference is. */
  readonly features: JobFeatures | undefined;
  /** Some of its fields contain the token. */
  readonly holdsSecret: boolean;
  /** It says of itself that it was deleted: see `statesDeletion`. */
  readonly saysDeleted: boolean;
}

/** Removes jobs found by earlier searches but not by this complete one, which began at `since`. */
export async function forgetUnread(db: Queryable, site: SiteName, since: Date): Promise<void> {
  await db.query('delete from site_reference where site = $1 and (read_at < $2 or read_at is null)', [site, since]);
}

/** A reading of the site's list in which jobs may be found. */
export interface Reading {
  readonly site: SiteName;
  readonly referenceField: string | undefined;
  /** When it began, by the database clock. */
  readonly since: Date;
  /** Whether it searches for jobs; if not, earlier findings stay as they are. */
  readonly isSearch: boolean;
}

const MOST_SHOWN = 1_000;

/**
 * Stores the jobs that nothing in the database owns. Leaves out those that were deleted since the reading began, and those that were deleted
 * before and say so.
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
       (site, site_job_id, reference, shown, features, blocks, secret, contradicts, field, read_at, by_search)
     select distinct on (j.id) $1, j.id, j.reference, left(j.shown, ${MOST_SHOWN}), j.features, string_to_array(j.blocks, ' ')::bigint[],
       j.secret, j.contradicts, $7, $8, $9
     from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::bool[], $10::text[], $11::bool[], $12::bool[])
       j(id, reference, shown, features, contradicts, blocks, secret, deleted)
     where (j.contradicts or not exists (select from mapping m where m.site = $1 and m.site_job_id = j.id) and not ${isTitled('$1', 'j.id')})
       and not exists (select from orphan_site_job s where s.site = $1 and s.site_job_id = j.id)
       and not exists (select from request q where q.at >= $8 and q.operation = 'delete' and q.site_job_id = j.id)
       and not (j.deleted and exists (select from request q join feed_state f on f.feed = q.feed and f.site = $1
         where q.operation = 'delete' and q.outcome in ('accepted', 'gone') and q.site_job_id = j.id))
     on conflict (site, site_job_id) do update set reference = excluded.reference, shown = excluded.shown,
       features = excluded.features, blocks = excluded.blocks, secret = excluded.secret, foreign_owner = false,
       contradicts = excluded.contradicts, field = excluded.field, read_at = excluded.read_at, by_search = true
     where excluded.by_search`,
    [
      site,
      jobs.map((job) => job.siteJobId),
      jobs.map(formOfFound),
      jobs.map(({ reference, isSecret }) => (isSecret ? null : (reference ?? null))),
      jobs.map(({ features }) => (features === undefined ? null : toJsonb(features))),
      jobs.map((job) => contradicting.has(job.siteJobId)),
      referenceField ?? null,
      since,
      isSearch,
      jobs.map(({ features }) => (features === undefined ? '' : blocksOf(features).join(' '))),
      jobs.map(({ holdsSecret }) => holdsSecret),
      jobs.map(({ saysDeleted }) => saysDeleted),
    ],
  );
}

/** References are compared in a column of their own. */
const blocksOf = (features: JobFeatures): number[] => [
  ...blockingKeysOfJob(features).flatMap(({ kind, hash }) => (kind === 'reference' ? [] : hash)),
  ...(features.title === undefined || features.reference === undefined ? [] : [titleBlock(features.title)]),
];

function formOfFound({ reference, isSecret }: FoundJob): string {
  if (reference === undefined || reference.trim() === '') return '';
  const form = shortForm(reference);
  return isSecret ? secretForm(form) : form;
}

/** How many unowned jobs the list shows without anything to compare them by. */
export const countNameless = (db: Queryable, site: SiteName): Promise<number> =>
  readNumber(db, `select count(*)::int as n from site_reference where site = $1 and reference = '' and blocks = '{}'`, [
    site,
  ]);

/**
 * Marks the jobs of a reading that may be other users', if the list shows whose jobs they are.
 * @param owners of all jobs of the list. @param own those of the jobs that postings have.
 */
export async function markForeign(
  db: Queryable,
  { site, since }: Pick<Reading, 'site' | 'since'>,
  { owners, own }: { readonly owners: ReadonlySet<string>; readonly own: ReadonlySet<string> },
): Promise<void> {
  if (owners.size <= 1 && (own.size === 0 || owners.has(''))) return;
  await db.query(
    `update site_reference set foreign_owner = true
     where site = $1 and read_at = $2 and not coalesce(features::json->>'owner', '') = any($3::text[])`,
    [site, since, [...own]],
  );
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
  if (referenceField === undefined) return new Map();
  return readMap<SiteJobId, string>(
    db,
    `select m.site_job_id as id, d.fields->>$3 as reference
     from mapping m join document d on d.feed = m.feed and d.key = m.key
     where m.site = $1 and m.site_job_id = any($2::text[]) and d.fields->>$3 <> ''`,
    [site, ids, referenceField],
  );
}

/** Begins the form of a reference that contains the token. No other form contains a space. */
export const SECRET_FORM = 'sha256 ';

/** Shorter references are not compared as prefixes, because consecutive numbers begin alike. */
const LEAST_CUT = 12;
/** Compared length of a reference, as an index cannot hold long texts. */
const MOST_OF_CLUE = 300;

/** What a site is known to make of a reference. */
export type Rewriting = (reference: string) => readonly string[];

const shortForm = (reference: string): string => referenceForm(reference).slice(0, MOST_OF_CLUE);

/** Finds jobs that show a reference by their title, wherever they are, beside the blocks of their features. 48 bits. */
export const titleBlock = (title: string): number =>
  createHash('sha1').update(`title ${title}`).digest().readUIntBE(0, 6);

/** Can be compared, but not read. */
export const secretForm = (form: string): string => SECRET_FORM + createHash('sha256').update(form).digest('hex');

/** The forms of a reference, including what sites that truncate it may have kept. */
export function formsOf(reference: string, rewrittenAs: Rewriting): string[] {
  const form = shortForm(reference);
  const forms = [form, ...rewrittenAs(reference).map(shortForm)];
  for (let length = form.length - 1; length >= LEAST_CUT; length--) {
    const part = form.slice(0, length);
    if (compareReferences(form, part) === 'cut') forms.push(part);
  }
  return [...new Set(forms)];
}

/** The same for partial comparison; sites also drop leading zeros of a number. */
export const partsOf = (reference: string, rewrittenAs: Rewriting): string[] => [
  ...new Set([reference, reference.replace(/(?<!\d)0+(?=\d)/g, ''), ...rewrittenAs(reference)].map(shortForm)),
];
