// Stores the state of each feed between pulls: its site, its current pull, and the validators of its source.
import type { FeedName, SiteName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';

export interface FeedState {
  readonly site: SiteName;
  readonly currentPull: number | undefined;
  readonly validators: SourceValidators | undefined;
  /** How the keys of all its mappings were derived; `undefined` if unknown. */
  readonly keyRule: string | undefined;
}

/** Validators of a complete pull, and what they are bound to. */
export interface SourceValidators {
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
  /** The address that sent them. */
  readonly address: string | undefined;
  /** Digest of everything that determines how the source is requested and read. */
  readonly request: string;
}

export async function readFeedState(db: Queryable, feed: FeedName): Promise<FeedState | undefined> {
  const [row] = await db.query(
    'select site, current_pull, etag, last_modified, validated_address, fingerprint, key_rule from feed_state where feed = $1',
    [feed],
  );
  if (row === undefined) return undefined;
  return {
    site: row.site,
    currentPull: row.current_pull ?? undefined,
    validators:
      row.fingerprint === null
        ? undefined
        : {
            etag: row.etag ?? undefined,
            lastModified: row.last_modified ?? undefined,
            address: row.validated_address ?? undefined,
            request: row.fingerprint,
          },
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
  /** `undefined`: the next pull reads the feed unconditionally. */
  readonly validators: SourceValidators | undefined;
  /** Why deletes are held from now on; `undefined` keeps the stored reason. */
  readonly holdReason: string | undefined;
  /** How the keys of all mappings of the feed are derived; `undefined` keeps the stored rule. */
  readonly keyRule: string | undefined;
  /** Whether any delete of the feed is held; if not, reason and age of the hold are cleared. */
  readonly holds: boolean;
}

export async function writeFeedState(db: Queryable, update: FeedStateUpdate): Promise<void> {
  await db.query(
    `insert into feed_state (feed, site, current_pull, etag, last_modified, validated_address, fingerprint, hold_reason, hold_since, key_rule)
     values ($1, $2, $3, $4, $5, $6, $7, $8, case when $8::text is null then null else now() end, $10)
     on conflict (feed) do update set current_pull = excluded.current_pull, retired_at = null, etag = excluded.etag,
       last_modified = excluded.last_modified, validated_address = excluded.validated_address,
       fingerprint = excluded.fingerprint, key_rule = coalesce(excluded.key_rule, feed_state.key_rule),
       hold_reason = case when $9 then coalesce(excluded.hold_reason, feed_state.hold_reason) end,
       hold_since = case when $9 then coalesce(feed_state.hold_since, excluded.hold_since) end`,
    [
      update.feed,
      update.site,
      update.pull,
      update.validators?.etag,
      update.validators?.lastModified,
      update.validators?.address,
      update.validators?.request,
      update.holdReason,
      update.holds,
      update.keyRule,
    ],
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
