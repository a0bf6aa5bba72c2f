// Stores actions on many review entries: what was selected, what is still to do, and what was left alone and why.
import { BULK_ACTIONS } from '../../plan/action.ts';
import type { ReviewOperation } from '../../plan/allowed.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import { SERVED_FEEDS } from '../locks/processes.ts';
import { toJsonb } from '../postgres/copy-rows.ts';
import { type Queryable, readColumn, readValue, returnsRow } from '../postgres/database.ts';
import { type EntryQuery, QUERY_VALUES, valuesOf } from './found-entries.ts';
import { COUNT_SELECTED, type CountedEntries, selectedBy } from './review-totals.ts';

/** Actions on creates in doubt: the site has made none of these jobs, or its list is to be read again for them. */
const DOUBT_ACTIONS = ['missing', 'check'] as const;
export type DoubtAction = (typeof DOUBT_ACTIONS)[number];

/** What a person can decide about entries that a filter selects. */
export const SELECTED_ACTIONS = ['edit', ...BULK_ACTIONS, ...DOUBT_ACTIONS] as const;
export type SelectedAction = (typeof SELECTED_ACTIONS)[number];

/** `adopt`: the jobs that a search of the site found for creates in doubt. */
export const BULK_KINDS = [...SELECTED_ACTIONS, 'adopt'] as const;
export type BulkKind = (typeof BULK_KINDS)[number];

/** What the action does to each entry. */
export const operationOf = (action: BulkKind): ReviewOperation => (action === 'adopt' ? 'exists' : action);

/** The values that an edit sets: the same for all entries, or by the value that an entry has. */
export interface BulkEdit {
  readonly set?: Fields;
  readonly map?: { readonly field: string; readonly values: Fields };
}

/** What the action does, and to what. */
export interface BulkDetail {
  readonly query: EntryQuery;
  readonly edit?: BulkEdit;
  /** Why entries are discarded. */
  readonly reason?: string;
  /** No command waits for it: whichever process runs `start` carries it out. */
  readonly unattended?: boolean;
}

/** `open`: a process carries it out, or did until it ended; `stopped`: a person stopped it. */
export type BulkState = 'open' | 'stopped' | 'done';

export interface BulkRow {
  readonly id: number;
  readonly action: BulkKind;
  readonly actor: string;
  readonly detail: BulkDetail;
  /** The rule that selected the entries; null: a person did. */
  readonly rule: number | null;
  readonly state: BulkState;
  readonly startedAt: Date;
  /** When it last made progress. */
  readonly touchedAt: Date;
  readonly total: number;
  readonly done: number;
  /** How many of those done were edited, but are still rejected. */
  readonly remaining: number;
  readonly skipped: number;
  /** Why it does not go on now. */
  readonly waitsFor: string | null;
}

const SELECT = `select id, action, actor, detail, rule, state, started_at as "startedAt", touched_at as "touchedAt", total, done,
  remaining, skipped, case when state = 'open' then waits_for end as "waitsFor" from bulk_action`;

interface NewBulk extends Pick<BulkRow, 'action' | 'actor' | 'detail'>, Partial<Pick<BulkRow, 'rule'>> {
  /** Only entries of these parts, of what the query selects. */
  readonly parts?: readonly string[] | undefined;
}

/** Stores the action with the entries that it selects now, and counts exactly these. */
export async function createBulk(
  tx: Queryable,
  { action, actor, detail, rule = null, parts }: NewBulk,
): Promise<{ readonly bulk: BulkRow; readonly selected: readonly CountedEntries[] }> {
  const [made] = await tx.query<{ id: number }>(
    'insert into bulk_action (action, actor, detail, rule) values ($1, $2, $3, $4) returning id',
    // These take thousands of entries, which the table below names.
    [action, actor, toJsonb(rule === null && action !== 'adopt' ? detail : withoutIds(detail)), rule],
  );
  const selected = await tx.query<CountedEntries>(
    `with selected as materialized (${selectedBy(detail.query)}),
     chosen as (
       insert into bulk_entry (bulk, feed, entry, group_id, revision)
       select $${QUERY_VALUES + 1}, feed, id, group_id, revision from selected)
     ${COUNT_SELECTED}`,
    [...valuesOf({ ...detail.query, parts }), made?.id],
  );
  const total = selected.reduce((sum, { n }) => sum + n, 0);
  await tx.query('update bulk_action set total = $2 where id = $1', [made?.id, total]);
  return { bulk: (await findBulk(tx, made?.id ?? 0)) as BulkRow, selected };
}

const withoutIds = (detail: BulkDetail): BulkDetail => ({ ...detail, query: { ...detail.query, ids: undefined } });

export async function findBulk(db: Queryable, id: number): Promise<BulkRow | undefined> {
  return (await db.query<BulkRow>(`${SELECT} where id = $1`, [id]))[0];
}

/** Newest first. @param before only those that were started before this one */
export const listBulk = (db: Queryable, limit: number, before?: number): Promise<BulkRow[]> =>
  db.query<BulkRow>(`${SELECT} where $2::bigint is null or id < $2 order by id desc limit $1`, [limit, before ?? null]);

export interface UnattendedBulk {
  readonly id: number;
  readonly action: BulkKind;
  /** The feeds with entries that it has not reached yet. */
  readonly feeds: readonly FeedName[];
  readonly waitsFor: string | null;
}

/** No action waits for so long: what is later than that was written while the clock of the database was ahead. */
const FUTURE = `interval '2 hours'`;

/** Open actions that no command waits for, and that made no progress for so long; the one that waits longest first. */
export const openUnattended = (db: Queryable, withoutProgressMs: number): Promise<UnattendedBulk[]> =>
  db.query<UnattendedBulk>(
    `select id, action, array(
         select distinct feed from bulk_entry e where e.bulk = b.id and e.skipped is null order by feed) as feeds, waits_for as "waitsFor"
     from bulk_action b where state = 'open' and (detail->'unattended')::boolean
       and touched_at not between clock_timestamp() - make_interval(secs => $1::float8 / 1000) and clock_timestamp() + ${FUTURE}
       and not_before not between clock_timestamp() and clock_timestamp() + ${FUTURE}
     order by touched_at limit 100`,
    [withoutProgressMs],
  );

/** The newest action of this kind that has not reached all of its entries of the feed, if there is one. */
export async function unfinishedBulk(
  db: Queryable,
  action: BulkKind,
  feed: FeedName,
): Promise<Pick<BulkRow, 'id' | 'state'> | undefined> {
  const [row] = await db.query<Pick<BulkRow, 'id' | 'state'>>(
    `select id, state from bulk_action b where action = $1 and state <> 'done'
       and exists (select from bulk_entry e where e.bulk = b.id and e.feed = $2 and e.skipped is null)
     order by id desc limit 1`,
    [action, feed],
  );
  return row;
}

/** Reads the action and keeps other processes from its next batch until the transaction ends. */
export async function lockBulk(tx: Queryable, id: number): Promise<BulkRow | undefined> {
  return (await tx.query<BulkRow>(`${SELECT} where id = $1 for update`, [id]))[0];
}

/** Stops it after its present batch, or lets it go on. Returns `false` if it is done or unknown. */
export const setBulkState = (db: Queryable, id: number, state: 'open' | 'stopped'): Promise<boolean> =>
  returnsRow(
    db,
    `update bulk_action set state = $2, waits_for = null, not_before = '-infinity' where id = $1 and state <> 'done' returning id`,
    [id, state],
  );

/** It can't go on for so long, unless a person lets it. */
export async function noteBulkWait(db: Queryable, id: number, waitsFor: string, waitMs: number): Promise<void> {
  await db.query(
    `update bulk_action set waits_for = $2, not_before = clock_timestamp() + make_interval(secs => $3::float8 / 1000)
     where id = $1 and state = 'open'`,
    [id, waitsFor, waitMs],
  );
}

/** The feed after this one, in turn, that has entries which it has not reached yet. @param among only these feeds; by default all */
export async function nextFeedOfBulk(
  tx: Queryable,
  id: number,
  after: FeedName | '',
  among?: readonly FeedName[],
): Promise<FeedName | undefined> {
  const left =
    'select feed from bulk_entry where bulk = $1 and skipped is null and ($3::text[] is null or feed = any($3))';
  return readValue<FeedName>(
    tx,
    `(${left} and feed > $2 order by feed limit 1) union all (${left} order by feed limit 1) limit 1`,
    [id, after, among ?? null],
  );
}

/** The feeds with entries that it has not reached yet, and whether a live process is configured with each. */
export const feedsLeft = (
  db: Queryable,
  id: number,
): Promise<{ readonly feed: FeedName; readonly served: boolean }[]> =>
  db.query(
    `select e.feed, e.feed in (${SERVED_FEEDS}) as served from (
       select distinct feed from bulk_entry where bulk = $1 and skipped is null) e order by e.feed`,
    [id],
  );

/** The next entries of the feed that it has not reached yet. */
export const nextOfBulk = (tx: Queryable, id: number, feed: FeedName, limit: number): Promise<number[]> =>
  readColumn<number>(
    tx,
    'select entry from bulk_entry where bulk = $1 and feed = $2 and skipped is null order by entry limit $3',
    [id, feed, limit],
  );

/** The entries of these feeds that it has not reached yet. */
export const entriesOfBulk = (tx: Queryable, id: number, feeds: readonly FeedName[]): Promise<number[]> =>
  readColumn<number>(
    tx,
    'select entry from bulk_entry where bulk = $1 and feed = any($2::text[]) and skipped is null order by entry',
    [id, feeds],
  );

/** Whether it has not reached this entry yet; `false` also if the feed was renamed. */
export const isYetToDo = (tx: Queryable, id: number, feed: FeedName, entry: number): Promise<boolean> =>
  returnsRow(tx, 'select from bulk_entry where bulk = $1 and feed = $2 and entry = $3 and skipped is null', [
    id,
    feed,
    entry,
  ]);

/** Locks the changes and records, in the order that all code uses, and returns those that are as they were selected. */
export async function lockUnaltered(tx: Queryable, bulk: BulkRow, ids: readonly number[]): Promise<Set<number>> {
  await tx.query('select from change where id = any($1::bigint[]) order by feed, key for update', [ids]);
  await tx.query('select from record_problem where id = any($1::bigint[]) order by id for update', [ids]);
  return new Set(
    await readColumn<number>(
      tx,
      `select b.entry from bulk_entry b join review_entry e on e.id = b.entry
     where b.bulk = $1 and b.entry = any($2::bigint[]) and e.group_id = b.group_id and e.discarded = $3
       and e.revision is not distinct from b.revision`,
      [bulk.id, ids, bulk.detail.query.discarded === true],
    ),
  );
}

/** The result of one batch. */
export interface BatchResult {
  readonly done: readonly number[];
  readonly remaining: number;
  readonly skipped: readonly { readonly entry: number; readonly why: string }[];
}

/** Records a batch in the transaction that acted on its entries. */
export async function recordBatch(tx: Queryable, id: number, { done, remaining, skipped }: BatchResult): Promise<void> {
  await tx.query('delete from bulk_entry where bulk = $1 and entry = any($2::bigint[])', [id, done]);
  await tx.query(
    `update bulk_entry b set skipped = s.why from unnest($2::bigint[], $3::text[]) s(entry, why)
     where b.bulk = $1 and b.entry = s.entry`,
    [id, skipped.map(({ entry }) => entry), skipped.map(({ why }) => why)],
  );
  await tx.query(
    `update bulk_action set done = done + $2, remaining = remaining + $3, skipped = skipped + $4, touched_at = clock_timestamp(),
       waits_for = null, not_before = '-infinity',
       state = case when exists (select from bulk_entry where bulk = $1 and skipped is null) then state else 'done' end
     where id = $1`,
    [id, done.length, remaining, skipped.length],
  );
}

/** The marks of the entries that it has not reached yet, as they were when it started. */
export const marksOfBulk = (db: Queryable, id: number): Promise<{ readonly id: number; readonly mark: string }[]> =>
  db.query(
    `select entry as id, hashint8extended(entry, revision)::text as mark from bulk_entry where bulk = $1 and skipped is null`,
    [id],
  );

/** Some of the entries that were left alone, with the reason. */
export const leftAlone = (
  db: Queryable,
  id: number,
  limit: number,
): Promise<{ readonly entry: number; readonly feed: FeedName; readonly why: string }[]> =>
  db.query(
    `select entry, feed, skipped as why from bulk_entry where bulk = $1 and skipped is not null order by entry limit $2`,
    [id, limit],
  );

/** Why entries were left alone, and how many. */
export interface SkippedCount {
  readonly message: string;
  readonly count: number;
}

/** The reasons for entries that actions left alone, by action, the most frequent first. Actions that left nothing alone are missing. */
export async function skippedOfBulks(db: Queryable, ids: readonly number[]): Promise<Map<number, SkippedCount[]>> {
  const rows = await db.query<SkippedCount & { readonly bulk: number }>(
    `select b.id as bulk, s.message, s.count from unnest($1::bigint[]) b(id) cross join lateral (
       select skipped as message, count(*) as count from bulk_entry where bulk = b.id and skipped is not null
       group by 1 order by 2 desc, 1 limit 20) s
     order by b.id, s.count desc, s.message`,
    [ids],
  );
  const byBulk = new Map<number, SkippedCount[]>();
  for (const { bulk, message, count } of rows) byBulk.set(bulk, [...(byBulk.get(bulk) ?? []), { message, count }]);
  return byBulk;
}

export const skippedOfBulk = async (db: Queryable, id: number): Promise<readonly SkippedCount[]> =>
  (await skippedOfBulks(db, [id])).get(id) ?? [];
