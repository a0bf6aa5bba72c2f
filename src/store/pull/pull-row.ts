// Stores one row per pull, with its counts, the outcomes that are counted towards it, and how it ended.
import type { Message } from '../../plan/message.ts';
import type { FeedName, SiteName } from '../../posting/identifiers.ts';
import type { OpenCounts } from '../backlog/open-counts.ts';
import type { Queryable } from '../postgres/database.ts';
import { toJsonb } from '../postgres/jsonb.ts';

export type PullStatus = 'running' | 'mirrored' | 'not_modified' | 'incomplete' | 'failed' | 'pending' | 'review';

/** One pull as listed. Times are the database's. */
export interface PullRow {
  readonly id: number;
  readonly feed: FeedName;
  readonly site: SiteName;
  /** What it changed is recorded completely and still kept. */
  readonly undoable: boolean;
  /** The pull that this one undid instead of reading its feed. */
  readonly undoes: number | undefined;
  readonly startedAt: Date;
  readonly committedAt: Date | undefined;
  readonly finishedAt: Date | undefined;
  readonly status: PullStatus;
  readonly complete: boolean;
  readonly shortfalls: readonly Message[];
  /** Why its completeness is proven only weakly. */
  readonly weak: string | undefined;
  /** What a person should know besides, or why it failed. */
  readonly notes: readonly Message[];
  readonly seen: number;
  readonly unchanged: number;
  readonly duplicates: number;
  readonly unreadable: number;
  readonly skipped: number;
  /** The skipped records whose postings have expired. */
  readonly expired: number;
  readonly gone: number;
  readonly grace: number;
  /** Seen records that a person had discarded when the pull ended. */
  readonly discarded: number;
  readonly bytes: number;
  readonly durationMs: number | undefined;
  /** The later pull that took the feed over, and what this one had left open then. */
  readonly takenOver: { readonly by: number; readonly leftOpen: OpenCounts } | undefined;
}

/** Starts a pull and returns its number. @param undoes it is no pull of the source, but the undo of this pull. */
export async function startPull(db: Queryable, feed: FeedName, site: SiteName, undoes?: number): Promise<number> {
  const [row] = await db.query<{ id: number }>(
    'insert into pull (feed, site, undoable, undoes) values ($1, $2, true, $3) returning id',
    [feed, site, undoes ?? null],
  );
  return (row as { id: number }).id;
}

/**
 * Ends a pull that committed nothing. One whose commit got no answer may have been committed all the same: its changes remain to be sent.
 */
export async function failPull(db: Queryable, pull: number, message: Message, bytes: number): Promise<void> {
  await db.query(
    `update pull set status = case when committed_at is null then 'failed' else 'pending' end,
       notes = case when committed_at is null then $2 else notes end, bytes = case when committed_at is null then $3 else bytes end,
       finished_at = now(), duration_ms = greatest(0, extract(epoch from now() - started_at) * 1000)
     where id = $1`,
    [pull, toJsonb([message]), bytes],
  );
}

/** Removes a pull that committed nothing and of which nothing is to be told. */
export const forgetUncommitted = (db: Queryable, pull: number): Promise<unknown> =>
  db.query('delete from pull where id = $1 and committed_at is null', [pull]);

/** Ends a pull whose changes were sent as far as possible. @param notes what a person should know about it. */
export async function finishPull(
  db: Queryable,
  pull: number,
  status: PullStatus,
  notes: readonly Message[],
  discarded: number,
): Promise<void> {
  await db.query(
    `update pull set status = $2, notes = $3, discarded = $4, finished_at = now(),
       duration_ms = greatest(0, extract(epoch from now() - started_at) * 1000)
     where id = $1`,
    [pull, status, toJsonb(notes), discarded],
  );
}

/** Ends a pull that was interrupted, unless it has ended: its committed changes remain to be sent. */
export async function giveUpPull(db: Queryable, pull: number, message: string): Promise<void> {
  await db.query(
    `update pull set status = case when committed_at is null then 'failed' else 'pending' end, notes = $2,
       finished_at = now(), duration_ms = greatest(0, extract(epoch from now() - started_at) * 1000)
     where id = $1 and status = 'running'`,
    [pull, toJsonb([message])],
  );
}

const COLUMNS = `id, feed, site, undoable, undoes, started_at as "startedAt", committed_at as "committedAt", finished_at as "finishedAt", status,
  complete, shortfalls, weak, notes, seen, unchanged, duplicates, unreadable, skipped, expired, gone, grace, discarded, bytes, duration_ms as "durationMs",
  taken_over_by as "takenOverBy", left_open as "leftOpen"`;

/** The undo of a pull that was committed, if there is one; the newest. */
export async function findUndoOf(db: Queryable, pull: number): Promise<number | undefined> {
  const [row] = await db.query<{ id: number }>(
    'select id from pull where feed = (select feed from pull where id = $1) and undoes = $1 and committed_at is not null order by id desc limit 1',
    [pull],
  );
  return row?.id;
}

interface StoredPull
  extends Omit<PullRow, 'undoes' | 'committedAt' | 'finishedAt' | 'weak' | 'durationMs' | 'takenOver'> {
  readonly undoes: number | null;
  readonly committedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly weak: string | null;
  readonly durationMs: number | null;
  /** Null unless a later pull took the feed over; then both are set. */
  readonly takenOverBy: number | null;
  readonly leftOpen: OpenCounts;
}

export async function findPull(db: Queryable, pull: number): Promise<PullRow | undefined> {
  const [row] = await db.query<StoredPull>(`select ${COLUMNS} from pull where id = $1`, [pull]);
  return row === undefined ? undefined : tidy(row);
}

/** Newest pulls first, of one feed or of all. @param before only older ones than this */
export async function listPulls(
  db: Queryable,
  feed: FeedName | undefined,
  limit: number,
  before?: number,
): Promise<PullRow[]> {
  const rows = await db.query<StoredPull>(
    `select ${COLUMNS} from pull where ($1::text is null or feed = $1) and ($3::bigint is null or id < $3)
     order by id desc limit $2`,
    [feed ?? null, limit, before ?? null],
  );
  return rows.map(tidy);
}

const tidy = ({ takenOverBy, leftOpen, ...row }: StoredPull): PullRow => ({
  ...row,
  takenOver: takenOverBy === null ? undefined : { by: takenOverBy, leftOpen },
  undoes: row.undoes ?? undefined,
  weak: row.weak ?? undefined,
  committedAt: row.committedAt ?? undefined,
  finishedAt: row.finishedAt ?? undefined,
  durationMs: row.durationMs ?? undefined,
});

/** `refused` and `unjudged` are subsets of `requests`; the latter allow no conclusion about their postings. */
export type CountedOutcome =
  | 'created'
  | 'updated'
  | 'deleted'
  | 'dropped'
  | 'nothing'
  | 'requests'
  | 'refused'
  | 'unjudged';

// Each count is spread over several rows, so workers rarely wait for each other's locks.
const SHARDS = 16;
const shard = Math.floor(Math.random() * SHARDS);

/** One outcome to be counted for a feed. */
export interface Counted {
  readonly feed: string;
  readonly outcome: CountedOutcome;
}

/** Adds one for each entry; the caller holds the shared lock of the feeds. */
export async function addOutcomeCount(tx: Queryable, entries: readonly Counted[]): Promise<void> {
  if (entries.length === 0) return;
  await tx.query(
    `insert into outcome_count (pull, outcome, shard, n)
     select f.current_pull, e.outcome, $3, count(*)
     from unnest($1::text[], $2::text[]) e(feed, outcome) join feed_state f on f.feed = e.feed
     where f.current_pull is not null
     group by f.current_pull, e.outcome order by 1, 2
     on conflict (pull, outcome, shard) do update set n = outcome_count.n + excluded.n`,
    [entries.map((entry) => entry.feed), entries.map((entry) => entry.outcome), shard],
  );
}
