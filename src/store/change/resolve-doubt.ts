// Records how a person resolved creates in doubt: the site has made this job, or none. One at a time, or many together.
import type { FeedName, PostingKey, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import { auditAction } from '../access/audit.ts';
import { lockOutcomesShared } from '../locks/advisory-locks.ts';
import { type Database, type Queryable, returnsRow, type Transaction } from '../postgres/database.ts';
import { areOfOneJob } from '../site/kept-values.ts';
import { namesOfSite } from '../site/known-address.ts';
import type { ActedEntry, AuditNote } from './act-in-review.ts';
import type { AdoptedContent } from './attempt.ts';
import {
  adoptDoubtWithin,
  candidatesOf,
  type Doubt,
  endOtherOwnership,
  findDoubt,
  refuteDoubtWithin,
  refuteShown,
} from './doubt.ts';
import { findChange, lockChange, type OpenChangeRow } from './open-change.ts';

export type DoubtVerdict =
  | {
      readonly kind: 'exists';
      readonly siteJobId: SiteJobId;
      readonly url: string | undefined;
      /** What the site shows of the job. */
      readonly content: AdoptedContent;
      /** The feed's policy changes no job, so nothing is sent for the posting. */
      readonly staysAsItIs: boolean;
      /** Whether the shown content is what was sent for the posting. */
      readonly fits: boolean;
      /** Whether the job no longer belongs to the posting that now owns it with these fields, if they are known. */
      readonly isOthers: (older: Fields | undefined) => boolean;
    }
  | { readonly kind: 'missing' };

export type DoubtResolved =
  | { readonly kind: 'recorded' }
  /** Another person, or a list check, has resolved it meanwhile. */
  | { readonly kind: 'not_in_doubt' }
  /** It is in doubt, but not as the person saw it. */
  | { readonly kind: 'altered' }
  /** The job belongs to another posting: a job has only one posting (laws 1 and 4). */
  | { readonly kind: 'owned'; readonly owner: string };

/** The doubt of an entry; `undefined` if it is not in doubt. */
export async function doubtOf(db: Queryable, entry: number): Promise<Doubt | undefined> {
  const change = await findChange(db, entry);
  return change === undefined ? undefined : findDoubt(db, change.feed, change.key);
}

/** `unique_violation`: another posting has just been given the job, and the next try finds that. */
const JUST_TAKEN = '23505';

/** Who decides, and what to keep for the audit. */
export interface DoubtDecider {
  readonly actor: string;
  readonly bulk?: number;
  /** Whether the locked entry is still the one that the person saw; absent: any is. */
  readonly isSeen?: (change: OpenChangeRow) => boolean;
}

export async function resolveDoubt(
  db: Database,
  entry: number,
  attempt: string,
  verdict: DoubtVerdict,
  by: DoubtDecider,
): Promise<DoubtResolved> {
  const resolve = () => db.transaction((tx) => resolveDoubtWithin(tx, entry, attempt, verdict, by));
  try {
    return await resolve();
  } catch (error) {
    if ((error as { code?: string }).code !== JUST_TAKEN) throw error;
    return resolve();
  }
}

/** The same within a transaction that also records the progress of an action on many entries. */
export async function resolveDoubtWithin(
  tx: Transaction,
  entry: number,
  attempt: string,
  verdict: DoubtVerdict,
  { actor, isSeen = () => true, ...note }: DoubtDecider,
): Promise<DoubtResolved> {
  const found = await findChange(tx, entry);
  if (found === undefined) return { kind: 'not_in_doubt' };
  await lockOutcomesShared(tx, [found.feed]);
  // Locked before reading: if the doubt is already resolved, the named job must not become an orphan.
  const locked = await lockChange(tx, entry);
  const doubt = await findDoubt(tx, found.feed, found.key);
  if (locked === undefined || doubt?.attempt.token !== attempt) return { kind: 'not_in_doubt' };
  if (!isSeen(locked)) return { kind: 'altered' };
  const { site, feed, key } = doubt.attempt;
  if (verdict.kind === 'exists') {
    // Only the site's answer can end another posting's claim; a person alone cannot take a job from a posting.
    if (verdict.fits || (await wasFound(tx, entry, verdict.siteJobId))) {
      await endOtherOwnership(tx, doubt, verdict.siteJobId, verdict.isOthers);
    }
    const owner = await ownerOf(tx, site, verdict.siteJobId);
    if (owner !== undefined) return { kind: 'owned', owner };
    // A person says whose job it is from now on, not who has made it.
    const content = { ...verdict.content, isProven: false, staysAsItIs: verdict.staysAsItIs };
    const recordedAs = await adoptDoubtWithin(tx, doubt, verdict.siteJobId, verdict.url, content);
    if (recordedAs !== 'recorded')
      return { kind: 'owned', owner: (await ownerOf(tx, site, verdict.siteJobId)) ?? 'another posting' };
  } else {
    // A job that a search has found since the create was sent was not shown: the person is asked about it first.
    const shown = doubt.found ? [] : await candidatesOf(tx, entry);
    await refuteDoubtWithin(tx, doubt, Number.POSITIVE_INFINITY);
    await refuteShown(tx, doubt.attempt, shown);
  }
  const { content: _, isOthers: __, ...said } = { content: undefined, isOthers: undefined, ...verdict };
  await auditAction(tx, { actor, action: 'settle', feed, key, detail: { entry, ...said, ...note } });
  return { kind: 'recorded' };
}

const wasFound = (tx: Queryable, entry: number, id: SiteJobId): Promise<boolean> =>
  returnsRow(tx, 'select from change where id = $1 and found_job_id = $2', [entry, id]);

/** The owner of a job, as text for people. */
async function ownerOf(tx: Queryable, site: SiteName, id: SiteJobId): Promise<string | undefined> {
  const [row] = await tx.query<{ owner: string }>(
    `select 'posting ' || key || ' of feed ' || feed || case when site_job_id <> $2 then ', as ' || site_job_id else '' end as owner
       from mapping where site = any($1::text[]) and ${areOfOneJob('site_job_id', '$2::text')}
     union all
     select 'the surplus jobs that are about to be deleted' from orphan_site_job
       where site = any($1::text[]) and ${areOfOneJob('site_job_id', '$2::text')}`,
    [await namesOfSite(tx, site), id],
  );
  return row?.owner;
}

/** What decides whether a create in doubt can be resolved together with others. */
export interface DoubtFacts extends ActedEntry {
  readonly site: SiteName;
  /** A search of the site found a job, so nothing was sent. */
  readonly found: boolean;
  /** The posting's job showed the reference of another posting, so no list decides it. */
  readonly foreign: boolean;
  /** Its list shows jobs that may be its own. */
  readonly possible: boolean;
  /** The last reading of the list told nothing. */
  readonly unread: boolean;
  /** Age of the attempt, by the database clock. */
  readonly sinceMs: number;
}

/** The creates in doubt among these entries. */
export const readDoubtFacts = (tx: Queryable, ids: readonly number[]): Promise<DoubtFacts[]> =>
  tx.query<DoubtFacts>(
    `select id, feed, site, found_job_id is not null as found, not_before = 'infinity' as foreign,
       coalesce(jsonb_array_length(reason->'candidates') > 0 or (reason->'crowded')::boolean, false) as possible,
       coalesce(reason ? 'note', false) as unread,
       (extract(epoch from clock_timestamp() - attempt_started) * 1000)::float8 as "sinceMs"
     from change where id = any($1::bigint[]) and state = 'in_doubt' order by feed, key`,
    [ids],
  );

/** The site has made no job for this create: it is sent again, unless a search has found a job that nobody was asked about. */
export async function refuteEntry(tx: Queryable, entry: number, actor: string, note: AuditNote): Promise<void> {
  const [row] = await tx.query<{ feed: FeedName; key: PostingKey }>('select feed, key from change where id = $1', [
    entry,
  ]);
  const doubt = row && (await findDoubt(tx, row.feed, row.key));
  if (doubt === undefined) throw new Error(`entry ${entry} is no longer in doubt, although it is locked`);
  await refuteDoubtWithin(tx, doubt, Number.POSITIVE_INFINITY);
  const { feed, key } = doubt.attempt;
  await auditAction(tx, { actor, action: 'settle', feed, key, detail: { entry, kind: 'missing', ...note } });
}

/** The next reading of the list is compared with these creates. */
export async function checkAgain(tx: Queryable, ids: readonly number[], actor: string, note: AuditNote): Promise<void> {
  const rows = await tx.query<{ id: number; feed: FeedName; key: PostingKey }>(
    `update change set not_before = '-infinity' where id = any($1::bigint[]) and state = 'in_doubt' returning id, feed, key`,
    [ids],
  );
  for (const { id: entry, feed, key } of rows) {
    await auditAction(tx, { actor, action: 'check doubt', feed, key, detail: { entry, ...note } });
  }
}
