// Types of attempts: a posting, the one request that may be sent for it under a token, and its result as the database sees it.
import type { ShownForms } from '../../plan/compare-shown.ts';
import type { CreateOnlyFields, Reason } from '../../plan/desired-change.ts';
import type { NextRequest } from '../../plan/next-request.ts';
import type { StatedTypes } from '../../plan/same-meaning.ts';
import type { PostingRef, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import { toJsonb } from '../postgres/copy-rows.ts';
import { columnsOf, type Queryable } from '../postgres/database.ts';

/** One string for feed and key; feed names contain no space. */
export const idOf = (posting: PostingRef): string => `${posting.feed} ${posting.key}`;

/** A committed intent: exactly this request may be sent now, once, under this token. */
export interface Attempt extends PostingRef {
  readonly site: SiteName;
  readonly token: string;
  /** Which attempt of this version it is, from 1. */
  readonly number: number;
  readonly pull: number | undefined;
  readonly revision: number;
  readonly request: Exclude<NextRequest, { kind: 'none' }>;
  /** What the site has once it accepts the request; undefined for a delete. */
  readonly accepted: { readonly fields: Fields; readonly recordHash: Buffer; readonly contentHash: Buffer } | undefined;
  /** Fields that an update leaves to the site. */
  readonly createOnly?: CreateOnlyFields;
  /** What the site had before, if known. */
  readonly before?: Fields;
  /** Fields of that which an uncertain write may have changed. */
  readonly uncertain?: readonly string[];
  /** What the site is known to show of that. */
  readonly forms?: ShownForms;
  /** It sets again what was found different on the site: what the site shows of it afterwards is its form. */
  readonly isRepair?: boolean;
  /** The site has reused IDs, or may have done so for a create in doubt: the job may belong to another posting by now. */
  readonly idMayBeReused?: boolean;
  /** Of a create: the ID under which the posting had a job until the site answered another create with it. */
  readonly lostJobId?: SiteJobId;
  /**
   * The site has answered as if it did not have the job: `open`: the list was not read since; `unlisted`: it does not have the job; otherwise
   * why it does not prove that.
   */
  readonly denied?: string;
  /** A list has shown an earlier create of the posting as not made. */
  readonly wasDoubted?: boolean;
  /** A person approved this delete, so the guard does not count it. */
  readonly approved: boolean;
}

/** The same as {@link columnsOf}, of the attempts of these outcomes. */
export const attemptColumns = (
  outcomes: readonly { readonly attempt: Attempt }[],
  ...names: readonly (keyof Attempt)[]
): readonly unknown[] =>
  columnsOf(
    outcomes.map(({ attempt }) => attempt),
    ...names,
  );

/**
 * Where a change goes whose attempt did not succeed. `mayLandMs`: the outcome of the update or delete is uncertain, and it
 * may still take effect until that long after its start.
 */
export type AttemptNotAccepted =
  /** Back to the backlog, not before `delayMs` from now. `counted`: it uses up one attempt. */
  | {
      readonly to: 'ready';
      readonly delayMs: number;
      readonly counted: boolean;
      readonly reason: Reason;
      readonly mayLandMs?: number;
    }
  /** A create whose outcome is unknown. */
  | { readonly to: 'in_doubt'; readonly reason: Reason }
  /** Waits for a new version from the feed, or for a person. */
  | { readonly to: 'rejected' | 'failed'; readonly reason: Reason; readonly mayLandMs?: number };

export type Result =
  | {
      readonly kind: 'created';
      readonly siteJobId: SiteJobId;
      readonly url: string | undefined;
      /** Tells which posting owns the job if another posting already has its ID. */
      readonly evidence?: Evidence;
      /** An existing job that a posting in doubt adopts, with what the site shows of it. */
      readonly adopted?: AdoptedContent;
      /** The job shows that it is the posting's, not the answer. */
      readonly isRead?: true;
    }
  | { readonly kind: 'updated' }
  /** `isOthers`: whichever job has the ID now is another posting's, and was left alone; absent: the job is gone. */
  | { readonly kind: 'deleted'; readonly isOthers?: true }
  /** The job shows another posting's reference: the mapping is removed, and a person decides which job is this posting's. */
  | { readonly kind: 'disowned'; readonly reason: Reason }
  /** The job of an update no longer exists on the site: the mapping is removed, and the change becomes a create. */
  | { readonly kind: 'vanished' }
  | { readonly kind: 'returned'; readonly back: AttemptNotAccepted };

/** What the site shows of the job whose ID it returned for a create. */
export interface Evidence {
  readonly shown: Fields | undefined;
  /** What the site states about the values that it shows. */
  readonly types?: StatedTypes | undefined;
  readonly referenceField: string | undefined;
  /** The show action was already called, so no more evidence can be had. */
  readonly asked: boolean;
  /** How long a request in flight may still reach the job. */
  readonly mayLandMs: number;
}

export interface AdoptedContent {
  readonly fields: Fields;
  /** Fields of the job that differ, or may differ, from the desired ones; the next update sets them. */
  readonly uncertain: readonly string[];
  /** What the site is known to show of the fields; absent: nothing. */
  readonly forms?: ShownForms;
}

/** One attempt and its result, with the exchange to record; `undefined` if nothing was sent. */
export interface AttemptOutcome {
  readonly attempt: Attempt;
  readonly result: Result;
  readonly record: ExchangeRecord | undefined;
  /** What the site is known to show after an accepted create or update that was sent. */
  readonly forms?: ShownForms;
  readonly freed?: FreedValues | undefined;
}

/** Values that a job of ours no longer has. */
export interface FreedValues {
  /** The reference field of the site. */
  readonly reference: string | undefined;
  /** All that the job had; `undefined`: not known. */
  readonly values: Fields | undefined;
  /** The fields in which it has others now; absent: it is gone. */
  readonly replaced?: readonly string[];
}

/** What was sent and received, with the token removed. Failed exchanges are stored whole, accepted ones in brief. */
export interface ExchangeRecord {
  readonly outcome: string;
  readonly status: number | undefined;
  readonly durationMs: number;
  readonly request: unknown;
  readonly response: unknown;
}

/** How an outcome was recorded. */
export type Recorded =
  /** The outcome was recorded as given. */
  | 'recorded'
  /** The site's new job already belongs to another posting; the change failed and needs a person. */
  | 'owned_elsewhere'
  /** Another posting has the ID of the site's new job, and the owner is not known yet: nothing was recorded. */
  | 'disputed'
  /** The response contradicts what is known: the create is in doubt. */
  | 'in_doubt'
  /** The attempt was no longer open; a job that it made is recorded as an orphan, to be deleted. */
  | 'superseded';

// Stores updates and deletes with unknown outcome: their fields do not count as known, and no newer request overtakes them.

// A delete may have removed every field that the site had.
const NOTE = `on conflict (feed, key) do update set revision = excluded.revision,
  fields = array(select unnest(uncertain_write.fields) union select unnest(excluded.fields)),
  until = greatest(uncertain_write.until, excluded.until)`;

/**
 * A posting may lose its job while a request to its former job is in flight: nothing of the posting is uncertain then. The
 * posting that has the job now is marked when it takes the job.
 */
const ownsJob = (change: string): string =>
  `exists (select from mapping m where m.feed = ${change}.feed and m.key = ${change}.key)`;

/** Records attempts without a certain outcome, which must still own their changes. Creates become doubts instead. */
export async function recordUncertainWrites(tx: Queryable, outcomes: readonly AttemptOutcome[]): Promise<void> {
  const open = outcomes.flatMap(({ attempt, result }) => {
    if (result.kind !== 'returned' || result.back.to === 'in_doubt' || attempt.request.kind === 'create') return [];
    const { mayLandMs } = result.back;
    return mayLandMs === undefined ? [] : [{ attempt, mayLandMs }];
  });
  if (open.length === 0) return;
  await tx.query(
    `insert into uncertain_write (feed, key, revision, fields, until)
     select c.feed, c.key, a.revision,
       case when a.names is null then coalesce((select array(select json_object_keys(d.fields)) from document d
                                                where d.feed = c.feed and d.key = c.key), '{}')
         else array(select jsonb_array_elements_text(a.names)) end,
       c.attempt_started + make_interval(secs => a.seconds)
     from unnest($1::text[], $2::text[], $3::uuid[], $4::bigint[], $5::jsonb[], $6::float8[])
       a(feed, key, token, revision, names, seconds)
     join change c on c.feed = a.feed and c.key = a.key and c.attempt_token = a.token
     where ${ownsJob('c')}
     ${NOTE}`,
    [
      ...attemptColumns(open, 'feed', 'key', 'token', 'revision'),
      open.map(({ attempt }) => ('fields' in attempt.request ? toJsonb(Object.keys(attempt.request.fields)) : null)),
      open.map(({ mayLandMs }) => mayLandMs / 1000),
    ],
  );
}

/**
 * The same, in SQL, for attempts whose worker died. `abandoned` names a query with rows of `change`. The sent fields are no
 * longer known, so every field that the site had or was to get is uncertain.
 */
export const insertUncertainAbandoned = (abandoned: string, seconds: string): string =>
  `insert into uncertain_write (feed, key, revision, fields, until)
   select a.feed, a.key, coalesce(a.sent_revision, a.revision),
     array(select json_object_keys(d.fields) union select json_object_keys(coalesce(a.sent_fields, a.fields))),
     a.attempt_started + make_interval(secs => ${seconds})
   from ${abandoned} a left join document d on d.feed = a.feed and d.key = a.key
   where a.attempt_operation <> 'create' and ${ownsJob('a')}
   ${NOTE}`;

/** A later request was accepted, or none is needed: the fields of these postings are certain again. */
export async function clearUncertain(
  tx: Queryable,
  outcomes: readonly { readonly attempt: PostingRef }[],
): Promise<void> {
  if (outcomes.length === 0) return;
  const values = [outcomes.map(({ attempt }) => attempt.feed), outcomes.map(({ attempt }) => attempt.key)];
  await tx.query(
    `with a as (select * from unnest($1::text[], $2::text[]) a(feed, key)),
       arrived as (delete from uncertain_write u using a where u.feed = a.feed and u.key = a.key and u.until <= now())
     update uncertain_write u set fields = null from a where u.feed = a.feed and u.key = a.key and u.until > now()`,
    values,
  );
}

/** Marks fields of a posting that are, or may be, wrong. Requests of others may reach its job for `mayLandMs`. */
export async function markUncertain(
  tx: Queryable,
  posting: PostingRef,
  fields: readonly string[],
  mayLandMs: number,
): Promise<void> {
  // No change has revision 0, so every change waits until those requests can no longer arrive.
  await tx.query(
    `insert into uncertain_write (feed, key, revision, fields, until)
     values ($1, $2, 0, $3, clock_timestamp() + make_interval(secs => $4)) ${NOTE}`,
    [posting.feed, posting.key, fields, mayLandMs / 1000],
  );
}

/** The site no longer has jobs of these postings, so that a request that still arrives finds nothing, or nothing is to be set on them. */
export async function forgetUncertainWrites(
  tx: Queryable,
  outcomes: readonly { readonly attempt: PostingRef }[],
): Promise<void> {
  if (outcomes.length === 0) return;
  await tx.query(
    'delete from uncertain_write u using unnest($1::text[], $2::text[]) a(feed, key) where u.feed = a.feed and u.key = a.key',
    [outcomes.map(({ attempt }) => attempt.feed), outcomes.map(({ attempt }) => attempt.key)],
  );
}

/** Delays changes until an earlier request for another version of their posting can no longer arrive (law 5). */
export async function delayUntilSettled(db: Queryable, postings: readonly PostingRef[]): Promise<void> {
  if (postings.length === 0) return;
  await db.query(
    `update change c set not_before = u.until
     from unnest($1::text[], $2::text[]) p(feed, key) join uncertain_write u on u.feed = p.feed and u.key = p.key
     where c.feed = p.feed and c.key = p.key and c.state = 'ready' and c.not_before < u.until`,
    columnsOf(postings, 'feed', 'key'),
  );
}
