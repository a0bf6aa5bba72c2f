// Stores the state of each feed between pulls: its site, its current pull, and the version of its source.
import type { FeedName, SiteName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';

export interface FeedState {
  readonly site: SiteName;
  readonly currentPull: number | undefined;
  /** The version of its source in the last complete pull, bound to what was asked for; only `src/feed` can read it. */
  readonly version: string | undefined;
  /** How the keys of all its mappings were derived; `undefined` if unknown. */
  readonly keyRule: string | undefined;
}

export async function readFeedState(db: Queryable, feed: FeedName): Promise<FeedState | undefined> {
  const [row] = await db.query('select site, current_pull, source_version, key_rule from feed_state where feed = $1', [
    feed,
  ]);
  if (row === undefined) return undefined;
  return {
    site: row.site,
    currentPull: row.current_pull ?? undefined,
    version: row.source_version ?? undefined,
    keyRule: row.key_rule ?? undefined,
  };
}

/**
 * Refuses a pull that stalled or lost its lock while a later one was committed (law 5). The caller holds the feed's lock.
 */
export async function refuseOvertaken(tx: Queryable, feed: FeedName, pull: number): Promise<void> {
  const current = (await readFeedState(tx, feed))?.currentPull;
  if (current === undefined || current < pull) return;
  throw new Error(`pull ${pull} of feed ${feed} was overtaken by pull ${current}; nothing of it was saved`);
}

/** The state that a committed pull writes. */
export interface FeedStateUpdate {
  readonly feed: FeedName;
  readonly site: SiteName;
  readonly pull: number;
  /** The version of its source; `undefined`: the next pull reads the feed unconditionally. */
  readonly version: string | undefined;
  /** Why deletes are held from now on; `undefined` keeps the stored reason. */
  readonly holdReason: string | undefined;
  /** How the keys of all mappings of the feed are derived; `undefined` keeps the stored rule. */
  readonly keyRule: string | undefined;
  /** Whether any delete of the feed is held; if not, reason and age of the hold are cleared. */
  readonly holds: boolean;
}

export async function writeFeedState(db: Queryable, update: FeedStateUpdate): Promise<void> {
  await db.query(
    `insert into feed_state (feed, site, current_pull, source_version, hold_reason, hold_since, key_rule)
     values ($1, $2, $3, $4, $5, case when $5::text is null then null else now() end, $7)
     on conflict (feed) do update set current_pull = excluded.current_pull, retired_at = null,
       source_version = excluded.source_version, key_rule = coalesce(excluded.key_rule, feed_state.key_rule),
       hold_reason = case when $6 then coalesce(excluded.hold_reason, feed_state.hold_reason) end,
       hold_since = case when $6 then coalesce(feed_state.hold_since, excluded.hold_since) end`,
    [update.feed, update.site, update.pull, update.version, update.holdReason, update.holds, update.keyRule],
  );
}

/** The feed's current pull, unless its site was resumed since: then a person has seen how the pull began. */
export async function pullToWatch(db: Queryable, feed: FeedName): Promise<number | undefined> {
  const [row] = await db.query<{ id: number }>(
    `select p.id from feed_state f join pull p on p.id = f.current_pull left join site_state s on s.site = f.site
     where f.feed = $1 and (s.resumed_at is null or s.resumed_at < p.committed_at)`,
    [feed],
  );
  return row?.id;
}
