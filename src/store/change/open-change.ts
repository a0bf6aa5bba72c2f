// Reads one open change with all its details, by its entry number or by its posting.
import type { ReadCircumstance } from '../../plan/allowed.ts';
import type { Reason } from '../../plan/desired-change.ts';
import type { FeedName, PostingKey, SiteName } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import { circumstancesSql } from '../backlog/open-counts.ts';
import { type Queryable, type Stored, withoutNulls } from '../postgres/database.ts';
import type { ChangeState } from './life-cycle.ts';

/** A change as stored. */
export interface OpenChangeRow {
  readonly id: number;
  readonly feed: FeedName;
  readonly key: PostingKey;
  readonly site: SiteName;
  readonly state: ChangeState;
  /** The former state of a discarded change. */
  readonly discardedFrom: 'rejected' | 'failed' | 'held' | undefined;
  readonly desired: 'present' | 'absent';
  readonly operation: 'create' | 'update' | 'delete';
  /** The fields that the site should have; `undefined` if the posting should be absent. */
  readonly fields: Fields | undefined;
  /** The hash of the record that the fields were read from; `undefined` if the posting should be absent. */
  readonly recordHash: Buffer | undefined;
  /** It breaks the configured site rules, so it is not sent. */
  readonly invalid: boolean;
  /** The posting is missing from the feed, within its grace. */
  readonly missing: boolean;
  /** What besides the state decides what can be done about it. */
  readonly circumstances: readonly ReadCircumstance[];
  readonly approved: boolean;
  readonly attempts: number;
  readonly pull: number | undefined;
  /** Grows with each new desired state and each decision about it. */
  readonly revision: number;
  /** Another one after each change of the entry; see `SelectedCount`. */
  readonly mark: string;
  readonly since: Date;
  readonly ageMs: number;
  /** Milliseconds until it may be sent; 0 if it may be sent now. */
  readonly waitsMs: number;
  readonly reason: Reason | undefined;
  /** The attempt in flight or in doubt, with what it sent. */
  readonly attempt:
    | {
        readonly operation: 'create' | 'update' | 'delete';
        readonly startedAt: Date;
        readonly fields: Fields | undefined;
      }
    | undefined;
}

/** SQL: the mark of a change, the same as of its review entry. */
export const markOfChange = (c: string): string =>
  `hashint8extended(${c}.id, entry_revision(${c}.state, ${c}.revision, ${c}.attempt_token, ${c}.found_job_id, ${c}.reason))::text`;

const SELECT = `select id, feed, key, site, state, case when state = 'discarded' then coalesce(discarded_from, 'rejected') end as "discardedFrom", desired,
    operation, fields, record_hash as "recordHash", invalid, gone as missing, ${circumstancesSql('change')} as circumstances, approved, attempts,
    pull, revision, ${markOfChange('change')} as mark, since, (extract(epoch from clock_timestamp() - since) * 1000)::float8 as "ageMs",
    case when isfinite(not_before)
      then greatest(0, extract(epoch from not_before - clock_timestamp()) * 1000)::float8 else 0 end as "waitsMs",
    reason, attempt_operation as "attemptOperation", attempt_started as "attemptStarted", coalesce(sent_fields, fields) as "attemptFields"
  from change`;

type StoredChange = Stored<Omit<OpenChangeRow, 'attempt'>> & {
  /** Null without an attempt, as its start. */
  readonly attemptOperation: OpenChangeRow['operation'] | null;
  readonly attemptStarted: Date;
  readonly attemptFields: Fields | null;
};

export async function findChange(db: Queryable, id: number): Promise<OpenChangeRow | undefined> {
  const [row] = await db.query<StoredChange>(`${SELECT} where id = $1`, [id]);
  return row === undefined ? undefined : tidy(row);
}

export async function findChangeOf(db: Queryable, feed: FeedName, key: PostingKey): Promise<OpenChangeRow | undefined> {
  const [row] = await db.query<StoredChange>(`${SELECT} where feed = $1 and key = $2`, [feed, key]);
  return row === undefined ? undefined : tidy(row);
}

/** Reads a change and locks it until the transaction ends. */
export async function lockChange(tx: Queryable, id: number): Promise<OpenChangeRow | undefined> {
  const [row] = await tx.query<StoredChange>(`${SELECT} where id = $1 for update`, [id]);
  return row === undefined ? undefined : tidy(row);
}

/** Locks changes until the transaction ends, in the order that all code uses. */
export async function lockChanges(tx: Queryable, ids: readonly number[]): Promise<void> {
  await tx.query('select from change where id = any($1::bigint[]) order by feed, key for update', [ids]);
}

/** Reads changes by their entry numbers; to decide about them, the transaction has to have locked them. */
export async function readChanges(tx: Queryable, ids: readonly number[]): Promise<ReadonlyMap<number, OpenChangeRow>> {
  const rows = await tx.query<StoredChange>(`${SELECT} where id = any($1::bigint[])`, [ids]);
  return new Map(rows.map((row) => [row.id, tidy(row)]));
}

const tidy = ({ attemptOperation, attemptStarted, attemptFields, ...row }: StoredChange): OpenChangeRow => ({
  ...withoutNulls<Omit<OpenChangeRow, 'attempt'>>(row),
  attempt:
    attemptOperation === null
      ? undefined
      : { operation: attemptOperation, startedAt: attemptStarted, fields: attemptFields ?? undefined },
});
