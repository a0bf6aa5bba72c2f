// Reads past pulls: with their outcomes, the newest of many feeds in brief, and what one has done on the site.
import type { GoneCounts, SeenCounts } from '../../plan/accounting.ts';
import { notesOfFormerlyHeld } from '../../plan/delete-guard.ts';
import type { Message } from '../../plan/message.ts';
import type { FeedCopy, FormerCopy, JudgedCopy } from '../../plan/source-faults.ts';
import type { FeedName, PostingKey, SiteName } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import type { OpenCounts } from '../backlog/open-counts.ts';
import { toJsonb } from '../postgres/copy-rows.ts';
import { type Queryable, readColumn, readValue, type Stored, withoutNulls } from '../postgres/database.ts';

/** A pull with the outcomes counted for it so far. */
export interface CountedPull extends PullRow {
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  readonly requests: number;
}

/** Newest first. @param before only older ones than this */
export async function countedPulls(
  db: Queryable,
  feed: FeedName | undefined,
  limit: number,
  before?: number,
): Promise<CountedPull[]> {
  return countPulls(db, await listPulls(db, feed, limit, before));
}

export async function countedPull(db: Queryable, id: number): Promise<CountedPull | undefined> {
  const pull = await findPull(db, id);
  return pull === undefined ? undefined : (await countPulls(db, [pull]))[0];
}

export async function countPulls(db: Queryable, pulls: readonly PullRow[]): Promise<CountedPull[]> {
  const rows = await db.query<{ pull: number; outcome: string; n: number }>(
    'select pull, outcome, sum(n)::bigint as n from outcome_count where pull = any($1::bigint[]) group by 1, 2',
    [pulls.map((pull) => pull.id)],
  );
  return pulls.map((pull) => {
    const countOf = (outcome: string) => rows.find((row) => row.pull === pull.id && row.outcome === outcome)?.n ?? 0;
    return {
      ...pull,
      unchanged: pull.unchanged + countOf('nothing'),
      // An incomplete pull finds nothing gone; the deletes that it carries out or drops are those of earlier pulls.
      gone: pull.complete ? pull.gone - countOf('dropped') : pull.gone,
      created: countOf('created'),
      updated: countOf('updated'),
      deleted: countOf('deleted'),
      requests: countOf('requests'),
    };
  });
}

/** What became of the records that it saw, and of what was gone; `undefined`: it is not proven complete, so nothing counts as gone. */
export function sumsOf(
  { seen, unchanged, created, updated, duplicates, unreadable, skipped, gone, deleted, grace, complete }: CountedPull,
  open: Partial<OpenCounts>,
): { readonly seen: SeenCounts; readonly gone: GoneCounts | undefined } {
  const { rejected = 0, in_doubt = 0, pending = 0, failed = 0 } = open;
  const { held = 0, kept = 0, pendingDeletes = 0, failedDeletes = 0 } = open;
  return {
    seen: { seen, unchanged, created, updated, rejected, in_doubt, pending, failed, duplicates, unreadable, skipped },
    gone: complete ? { gone, deleted, held, grace, kept, pendingDeletes, failedDeletes } : undefined,
  };
}

/** Recent pulls of a feed. */
export interface PullHistory {
  readonly feed: FeedName;
  /** Start of the newest pull; `undefined` if there was none. */
  readonly lastRunAt: Date | undefined;
  /** The newest pull that was proven complete, with its commit time. */
  readonly lastComplete: { readonly pull: number; readonly at: Date } | undefined;
  /** How the newest pulls ended, newest first, without a running one. */
  readonly recent: readonly Exclude<PullStatus, 'running'>[];
  /** Why the newest of them failed; `undefined` if it did not fail. */
  readonly failure: Message | undefined;
}

/** How many pulls of each feed are read. */
export const RECENT_PULLS = 3;

/** A pull that was refused because an undo had stopped the feed, which a person has resumed since: it says nothing about the source. */
const REFUSED_FORMERLY = `p.status = 'failed' and coalesce(p.notes @> '[{"next": [{"action": {"kind": "resume_feed"}}]}]', false)
  and not exists (select from feed_state s where s.feed = p.feed and s.stopped_by is not null)`;

interface HistoryRow {
  readonly feed: FeedName;
  readonly last_run: Date | null;
  /** Null if none was complete, as its time. */
  readonly complete_pull: number | null;
  readonly complete_at: Date;
  readonly statuses: PullHistory['recent'] | null;
  readonly notes: readonly (Message | null)[] | null;
}

export async function readPullHistories(
  db: Queryable,
  feeds: readonly FeedName[],
): Promise<ReadonlyMap<FeedName, PullHistory>> {
  const rows = await db.query<HistoryRow>(
    `select f.feed, l.started_at as last_run, c.id as complete_pull, c.at as complete_at, r.statuses, r.notes
     from unnest($1::text[]) f(feed)
     left join lateral (select started_at from pull p where p.feed = f.feed order by id desc limit 1) l on true
     left join lateral (select id, coalesce(committed_at, finished_at, started_at) as at from pull p
       where p.feed = f.feed and p.complete order by id desc limit 1) c on true
     left join lateral (select array_agg(status order by id desc) as statuses, array_agg(notes->0 order by id desc) as notes
       from (select id, status, notes from pull p where p.feed = f.feed and status <> 'running' and not (${REFUSED_FORMERLY})
             order by id desc limit ${RECENT_PULLS}) newest) r on true`,
    [feeds],
  );
  return new Map(
    rows.map((row) => [
      row.feed,
      {
        feed: row.feed,
        lastRunAt: row.last_run ?? undefined,
        lastComplete: row.complete_pull === null ? undefined : { pull: row.complete_pull, at: row.complete_at },
        recent: row.statuses ?? [],
        failure: row.statuses?.[0] === 'failed' ? (row.notes?.[0] ?? 'no reason recorded') : undefined,
      },
    ]),
  );
}

export interface BriefPull {
  readonly id: number;
  readonly status: PullStatus;
  readonly complete: boolean;
  readonly seen: number;
}

/** Oldest first. */
export async function recentPulls(
  db: Queryable,
  feeds: readonly FeedName[],
  limit: number,
): Promise<ReadonlyMap<FeedName, readonly BriefPull[]>> {
  const rows = await db.query<{ feed: FeedName; pulls: BriefPull[] | null }>(
    `select f.feed, (select json_agg(r order by r.id) from (
       select id, status, complete, seen from pull p where p.feed = f.feed order by id desc limit $2) r) as pulls
     from unnest($1::text[]) f(feed)`,
    [feeds, limit],
  );
  return new Map(rows.map(({ feed, pulls }) => [feed, pulls ?? []]));
}

export const PULL_EFFECTS = ['created', 'updated', 'deleted'] as const;
export type PullEffect = (typeof PULL_EFFECTS)[number];

/** A posting whose job a pull changed. */
export interface PulledPosting {
  readonly key: PostingKey;
  readonly at: Date;
  /** What the site has now; `undefined`: no job, or not known. */
  readonly now: Fields | undefined;
  /** The values before of the fields that the pull changed, null for one that the job did not have; `undefined`: not known. */
  readonly before: Readonly<Record<string, string | null>> | undefined;
}

/** For each posting, the newest request of the pull with this effect; the rows below the key. */
const FORMER = `select distinct on (key) feed, key, at, fields from former_document
  where feed = $1 and pull = $2 and whole = $5 and not edited and ($3::text is null or key > $3) order by key, id limit $4`;

type PulledRow = Stored<PulledPosting>;

/** The postings that a pull changed, by key. Created: the jobs that still exist. Updated and deleted: as long as `undo` keeps them. */
export async function pulledPostings(
  db: Queryable,
  pull: { readonly id: number; readonly feed: FeedName },
  effect: PullEffect,
  after: PostingKey | undefined,
  limit: number,
): Promise<PulledPosting[]> {
  const parameters = [pull.feed, pull.id, after ?? null, limit];
  const rows =
    effect === 'created'
      ? await db.query<PulledRow>(
          `select m.key, m.mapped_at as at, d.fields as now, null as before
           from (select feed, key, mapped_at from mapping where feed = $1 and created_by = $2 and created_by is not null
             and ($3::text is null or key > $3) order by key limit $4) m
           left join document d on d.feed = m.feed and d.key = m.key order by m.key`,
          parameters,
        )
      : await db.query<PulledRow>(
          `select f.key, f.at, d.fields as now, f.fields as before from (${FORMER}) f
           left join document d on d.feed = f.feed and d.key = f.key order by f.key`,
          [...parameters, effect === 'deleted'],
        );
  return rows.map(withoutNulls<PulledPosting>);
}

// Stores one row per pull, with its counts, the outcomes that are counted towards it, and how it ended.

export type PullStatus = 'running' | 'mirrored' | 'not_modified' | 'incomplete' | 'failed' | 'pending' | 'review';

/** What a pull found, counted while the feed streamed and merged. */
export interface PullFindings {
  readonly complete: boolean;
  readonly shortfalls: readonly Message[];
  readonly seen: number;
  readonly unchanged: number;
  readonly duplicates: number;
  readonly unreadable: number;
  readonly skipped: number;
  /** The skipped records whose postings have expired. */
  readonly expired: number;
  /** Postings that the site has, or may have, but the feed no longer has; 0 unless the feed is proven complete. */
  readonly gone: number;
  /** The gone postings that are within their grace. */
  readonly grace: number;
  readonly bytes: number;
  /** Why the completeness is proven only weakly, for people. */
  readonly weak: string | undefined;
  /** Which copy of the feed was read, and what it left undone; absent: nothing came from the web, or not all. */
  readonly copy?: PulledCopy | undefined;
}

export interface PulledCopy extends FeedCopy, Partial<Omit<JudgedCopy, keyof FeedCopy>> {
  /** How many deletes wait, and how many updates were left out. */
  readonly waiting?: number;
  readonly leftOut?: number;
}

/** The copies that the last pulls of the feed have read, newest first: of a week, as no cache is expected to keep one for longer. */
export const formerCopies = (db: Queryable, feed: FeedName): Promise<FormerCopy[]> =>
  db.query<FormerCopy>(
    `select r.copy->>'source' as source, r.copy->>'content' as content, (r.copy->'madeAt')::float8 as "madeAt", (r.copy->'isCached')::bool as "isCached", r.id as pull,
       (r.copy->'since')::bigint as since
     from (select id, copy from pull where feed = $1 and complete and started_at > now() - interval '7 days'
       order by id desc limit 32) r where r.copy is not null order by r.id desc`,
    [feed],
  );

/** More pulls are not read, however often a feed is read without a change. */
const MOST_COPIES = 5_000;

/** How many records the two contents before this one had that complete pulls have read from this source, newest first. */
export const sizesBefore = (db: Queryable, feed: FeedName, { source, content }: FeedCopy): Promise<number[]> =>
  readColumn<number>(
    db,
    `with read as (select id, seen, copy->>'source' as source, copy->>'content' as content from pull
       where feed = $1 and complete and copy is not null order by id desc limit ${MOST_COPIES}),
     spans as (select id, seen, source, content <> lag(content, 1, $3) over (order by id desc) as other from read)
     select seen from spans where other and source is not distinct from $2
       and id > coalesce((select max(id) from read where source is distinct from $2), 0) order by id desc limit 2`,
    [feed, source ?? null, content],
  );

/** One pull as listed. Times are the database's. */
export interface PullRow extends PullFindings {
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
  /** What a person should know besides, or why it failed. */
  readonly notes: readonly Message[];
  /** Seen records that a person had discarded when the pull ended. */
  readonly discarded: number;
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

const ENDS_NOW = 'finished_at = now(), duration_ms = greatest(0, extract(epoch from now() - started_at) * 1000)';

/**
 * Ends a pull that committed nothing. One whose commit got no answer may have been committed all the same: its changes remain to be sent.
 */
export async function failPull(db: Queryable, pull: number, message: Message, bytes: number): Promise<void> {
  await db.query(
    `update pull set status = case when committed_at is null then 'failed' else 'pending' end,
       notes = case when committed_at is null then $2 else notes end, bytes = case when committed_at is null then $3 else bytes end,
       ${ENDS_NOW} where id = $1`,
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
  await db.query(`update pull set status = $2, notes = $3, discarded = $4, ${ENDS_NOW} where id = $1`, [
    pull,
    status,
    toJsonb(notes),
    discarded,
  ]);
}

/** Ends a pull that was interrupted, unless it has ended: its committed changes remain to be sent. */
export async function endInterruptedPull(db: Queryable, pull: number, message: string): Promise<void> {
  await db.query(
    `update pull set status = case when committed_at is null then 'failed' else 'pending' end, notes = $2, ${ENDS_NOW}
     where id = $1 and status = 'running'`,
    [pull, toJsonb([message])],
  );
}

const COLUMNS = `id, feed, site, undoable, undoes, started_at as "startedAt", committed_at as "committedAt", finished_at as "finishedAt", status,
  complete, shortfalls, weak, copy, notes, seen, unchanged, duplicates, unreadable, skipped, expired, gone, grace, discarded, bytes, duration_ms as "durationMs",
  taken_over_by as "takenOverBy", left_open as "leftOpen", exists (select from change c where c.feed = pull.feed and c.state = 'held') as "isHeld"`;

/** The undo of a pull that was committed, if there is one; the newest. */
export const findUndoOf = (db: Queryable, pull: number): Promise<number | undefined> =>
  readValue<number>(
    db,
    'select id from pull where feed = (select feed from pull where id = $1) and undoes = $1 and committed_at is not null order by id desc limit 1',
    [pull],
  );

type StoredPull = Stored<Omit<PullRow, 'takenOver'>> & {
  /** Null unless a later pull took the feed over; then both are set. */
  readonly takenOverBy: number | null;
  readonly leftOpen: OpenCounts;
  /** Changes of its feed are held now. */
  readonly isHeld: boolean;
};

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

/** The newest pull of each of these feeds that has one. */
export async function newestPulls(db: Queryable, feeds: readonly FeedName[]): Promise<ReadonlyMap<FeedName, PullRow>> {
  const rows = await db.query<StoredPull>(
    `select p.* from unnest($1::text[]) f(feed)
     cross join lateral (select ${COLUMNS} from pull where pull.feed = f.feed order by id desc limit 1) p`,
    [feeds],
  );
  return new Map(rows.map((row) => [row.feed, tidy(row)]));
}

const tidy = ({ takenOverBy, leftOpen, isHeld, ...row }: StoredPull): PullRow => ({
  ...withoutNulls<Omit<PullRow, 'takenOver'>>(row),
  notes: isHeld ? row.notes : notesOfFormerlyHeld(row.notes),
  takenOver: takenOverBy === null ? undefined : { by: takenOverBy, leftOpen },
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
export interface OutcomeToCount {
  readonly feed: string;
  readonly outcome: CountedOutcome;
}

/** Adds one for each entry; the caller holds the shared lock of the feeds. */
export async function addOutcomeCount(tx: Queryable, entries: readonly OutcomeToCount[]): Promise<void> {
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
