// Stores the state of each feed between pulls: its site, its current pull, and the version of its source.

import type { CreateOnlyFields } from '../../plan/desired-change.ts';
import type { FeedPolicy } from '../../plan/policy.ts';
import type { AnswerMark, FilledSources, FormerAnswer } from '../../plan/source-faults.ts';
import { HASH_BYTES } from '../../posting/hash.ts';
import type { FeedName, SiteName } from '../../posting/identifiers.ts';
import { toJsonb } from '../postgres/copy-rows.ts';
import { type Queryable, readMap, readValue, type Stored, withoutNulls } from '../postgres/database.ts';
import { refuseNewerSchema } from '../postgres/migrate.ts';

export interface FeedState {
  readonly site: SiteName;
  readonly currentPull: number | undefined;
  /** The version of its source in the last complete pull, bound to what was asked for; only `src/feed` can read it. */
  readonly version: string | undefined;
  /** Whether a pull has read it within 23 hours, so that one pull a day reads it; others may be answered "not modified". */
  readonly isReadDaily: boolean;
  /** How the keys of all its mappings were derived; `undefined` if unknown. See {@link KEYS_CHANGED}. */
  readonly keyRule: string | undefined;
  /** The undo since which the feed is not pulled, until a person resumes it. */
  readonly stopped: Pick<StoppedFeed, 'undo' | 'undone'> | undefined;
  /** As configured at its last pull; absent: `mirror`, or no pull has recorded it. */
  readonly policy?: FeedPolicy;
  /** Whether its current pull had no records. */
  readonly sawNothing: boolean;
  /** See `nextFilled`; `undefined`: only one source is known. */
  readonly filledSources?: FilledSources | undefined;
}

/**
 * Instead of a rule, once a person has given jobs to new keys: then the source has other keys, and a record whose posting was not found
 * may be that of a job that still has its former key.
 */
export const KEYS_CHANGED = 'changed';

type FeedStateRow = Stored<Omit<FeedState, 'stopped' | 'policy'>> & {
  readonly stoppedBy: number | null;
  readonly undone: number | null;
  readonly policy: FeedPolicy | null;
};

export async function readFeedState(db: Queryable, feed: FeedName): Promise<FeedState | undefined> {
  const [row] = await db.query<FeedStateRow>(
    `select f.site, f.current_pull as "currentPull", f.source_version as version, f.key_rule as "keyRule", f.stopped_by as "stoppedBy",
       coalesce(f.read_at between now() - interval '23 hours' and now() + interval '1 hour', false) as "isReadDaily", u.undoes as undone, f.policy, coalesce(p.seen = 0, false) as "sawNothing",
       f.filled_sources as "filledSources"
     from feed_state f left join pull p on p.id = f.current_pull
     left join pull u on u.id = f.stopped_by where f.feed = $1`,
    [feed],
  );
  if (row === undefined) return undefined;
  const { stoppedBy, undone, policy, ...state } = row;
  return {
    ...withoutNulls<Omit<FeedState, 'stopped' | 'policy'>>(state),
    stopped: stoppedBy === null ? undefined : { undo: stoppedBy, undone: undone ?? undefined },
    ...(policy === null ? {} : { policy }),
  };
}

/** The rule under which the last pull of each feed has looked for its postings; null: none has. */
export const membershipRules = (db: Queryable): Promise<ReadonlyMap<FeedName, string | null>> =>
  readMap(db, 'select feed, membership_rule as rule from feed_state');

/**
 * Refuses a pull that stalled or lost its lock while a later one was committed (law 5), or while its feed was renamed: under the former
 * name all of its postings would be new (law 1). The caller holds the feed's lock.
 */
export async function refuseOvertaken(tx: Queryable, feed: FeedName, pull: number): Promise<void> {
  await refuseNewerSchema(tx);
  const [own] = await tx.query('select from pull where id = $1 and feed = $2', [pull, feed]);
  if (own === undefined) {
    throw new Error(`pull ${pull} of feed ${feed} was overtaken: the feed was renamed; nothing of it was saved`);
  }
  const current = (await readFeedState(tx, feed))?.currentPull;
  if (current === undefined || current < pull) return;
  throw new Error(`pull ${pull} of feed ${feed} was overtaken by pull ${current}; nothing of it was saved`);
}

/** The state that a committed pull writes. */
export interface FeedStateUpdate {
  readonly feed: FeedName;
  readonly site: SiteName;
  readonly pull: number;
  /** As configured. */
  readonly createOnly?: CreateOnlyFields;
  /** As configured. */
  readonly policy?: FeedPolicy | undefined;
  /** As configured, see `membershipRule`; `undefined` keeps the stored one. */
  readonly membership?: string | undefined;
  /** The version of its source; `undefined`: the next pull reads the feed unconditionally. */
  readonly version: string | undefined;
  /** How the keys of all mappings of the feed are derived; `undefined` keeps the stored rule. */
  readonly keyRule?: string | undefined;
  /** The answer of a weakly proven pull from which postings are missing; `undefined` keeps the stored one, null removes it. */
  readonly weakAnswer?: readonly AnswerMark[] | null | undefined;
  /** See `nextFilled`; `undefined` keeps what is stored. */
  readonly filledSources?: FilledSources | undefined;
  /** The hashes of its records in their order, if it may list only its newest postings; `undefined` keeps the stored ones. */
  readonly listedRecords?: readonly Buffer[] | undefined;
  /** Likely mistakes of the mapping; `undefined` keeps the stored ones. */
  readonly warnings?: readonly string[] | undefined;
}

/**
 * Stores no version if a posting has lost its job since the pull began: only a pull that reads the feed creates the posting
 * again. The transaction of that loss may have begun a moment earlier.
 */
const VERSION = `case when exists (select from ended_claim e join pull p on p.id = $3
    where e.feed = $1 and e.ended_at > p.started_at - interval '1 minute') then null else $4 end`;

/** The names as the database keeps them. */
export const createOnlyNames = (createOnly: CreateOnlyFields): string[] | null =>
  createOnly === undefined ? null : [...createOnly];

export async function writeFeedState(db: Queryable, update: FeedStateUpdate): Promise<void> {
  await db.query(
    `insert into feed_state (feed, site, current_pull, source_version, key_rule, warnings, create_only_fields, policy, membership_rule, weak_answer, weak_at,
       filled_sources, listed_records, read_at)
     values ($1, $2, $3, ${VERSION}, $5, coalesce($6::jsonb, '[]'), $7, $8, $9, $11::jsonb, case when $11::jsonb is not null then now() end, $12::jsonb, $13, now())
     on conflict (feed) do update set current_pull = excluded.current_pull, retired_at = null, read_at = excluded.read_at,
       create_only_fields = excluded.create_only_fields, policy = excluded.policy,
       membership_rule = coalesce(excluded.membership_rule, feed_state.membership_rule),
       source_version = excluded.source_version, key_rule = coalesce(excluded.key_rule, feed_state.key_rule),
       filled_sources = coalesce(excluded.filled_sources, feed_state.filled_sources),
       listed_records = case when excluded.listed_records is distinct from feed_state.listed_records
         then coalesce(excluded.listed_records, feed_state.listed_records) else feed_state.listed_records end,
       warnings = coalesce($6::jsonb, feed_state.warnings),
       weak_answer = case when $10 then excluded.weak_answer else feed_state.weak_answer end,
       weak_at = case when $10 then excluded.weak_at else feed_state.weak_at end`,
    [
      update.feed,
      update.site,
      update.pull,
      update.version,
      update.keyRule,
      update.warnings === undefined ? null : toJsonb(update.warnings),
      createOnlyNames(update.createOnly),
      update.policy,
      update.membership ?? null,
      update.weakAnswer !== undefined,
      update.weakAnswer == null ? null : toJsonb(update.weakAnswer),
      update.filledSources === undefined ? null : toJsonb(update.filledSources),
      update.listedRecords === undefined ? null : Buffer.concat(update.listedRecords),
    ],
  );
}

/** See `FeedStateUpdate`; `undefined`: not known. */
export async function readListedRecords(db: Queryable, feed: FeedName): Promise<readonly Buffer[] | undefined> {
  const all = await readValue<Buffer | null>(db, 'select listed_records from feed_state where feed = $1', [feed]);
  if (all == null) return undefined;
  return Array.from({ length: all.length / HASH_BYTES }, (_, at) =>
    all.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES),
  );
}

/** The weakly proven pull that last counted a posting as missing. */
export async function readWeakAnswer(db: Queryable, feed: FeedName): Promise<FormerAnswer | undefined> {
  const [row] = await db.query<FormerAnswer>(
    `select weak_answer as marks, extract(epoch from now() - weak_at)::float8 * 1000 as "agoMs"
     from feed_state where feed = $1 and weak_answer is not null`,
    [feed],
  );
  return row;
}

/** The feed's current pull, unless its site was resumed since: then a person has seen how the pull began. */
export const pullToWatch = (db: Queryable, feed: FeedName): Promise<number | undefined> =>
  readValue<number>(
    db,
    `select p.id from feed_state f join pull p on p.id = f.current_pull left join site_state s on s.site = f.site
     where f.feed = $1 and (s.resumed_at is null or s.resumed_at < p.committed_at)`,
    [feed],
  );

/** Unless a delete is held because of one of these sources, they count as sources without records from now on. */
export const acceptEmptySources = (tx: Queryable, feed: FeedName, sources: readonly string[]): Promise<unknown> =>
  tx.query(
    `update feed_state f set filled_sources = f.filled_sources - $2::text[]
     where f.feed = $1 and f.filled_sources ?| $2::text[]
       and not exists (select from change c where c.feed = $1 and c.state = 'held' and c.reason->'sources' ?| $2::text[])`,
    [feed, sources],
  );

/** The next pull must read these feeds, changed or not. */
export const forgetVersions = (tx: Queryable, feeds: readonly FeedName[]): Promise<unknown> =>
  tx.query('update feed_state set source_version = null where feed = any($1::text[])', [feeds]);

/** From now on the feed is not pulled, because of this undo. */
export async function stopFeed(tx: Queryable, feed: FeedName, undo: number): Promise<void> {
  await tx.query('update feed_state set stopped_at = now(), stopped_by = $2 where feed = $1', [feed, undo]);
}

/** The feed is pulled again, with `seen` only if that undo has stopped it. Returns the undo that had stopped it. */
export const resumeFeed = (tx: Queryable, feed: FeedName, seen?: number): Promise<number | undefined> =>
  readValue<number>(
    tx,
    `update feed_state f set stopped_at = null, stopped_by = null from feed_state former
     where f.feed = $1 and former.feed = f.feed and f.stopped_by is not null
       and ($2::bigint is null or f.stopped_by = $2) returning former.stopped_by as undo`,
    [feed, seen ?? null],
  );

/** A feed that an undo has stopped, until a person resumes it. */
export interface StoppedFeed {
  readonly feed: FeedName;
  readonly since: Date;
  /** The undo, and the pull that it undid. */
  readonly undo: number;
  readonly undone: number | undefined;
}

export async function stoppedFeeds(db: Queryable): Promise<StoppedFeed[]> {
  const rows = await db.query<Stored<StoppedFeed>>(
    `select f.feed, f.stopped_at as since, f.stopped_by as undo, u.undoes as undone
     from feed_state f left join pull u on u.id = f.stopped_by where f.stopped_by is not null order by f.feed`,
  );
  return rows.map(withoutNulls<StoppedFeed>);
}
