// Reads the backlog in the order in which it is to be sent, piece by piece, for the bounded window of the queue.
import { type FeedName, type PostingKey, postingKey, type SiteName } from '../posting/identifiers.ts';
import type { Queryable } from './database.ts';

/** Where reading stopped: the rank of the operation (deletes 0, creates 1, updates 2) and the change's number. */
export interface BacklogCursor {
  readonly rank: number;
  readonly id: number;
}

/** Changes of one feed that are due, after the cursor: deletes before creates before updates, oldest first. */
export async function readReady(
  db: Queryable,
  feed: FeedName,
  after: BacklogCursor | undefined,
  limit: number,
): Promise<{ readonly key: PostingKey; readonly cursor: BacklogCursor }[]> {
  const rank = `case operation when 'delete' then 0 when 'create' then 1 else 2 end`;
  const rows = await db.query<{ key: string; rank: number; id: number }>(
    `select key, ${rank} as rank, id from change
     where feed = $1 and state = 'ready' and not_before <= now() and ((${rank}), id) > ($2::int, $3::bigint)
     order by (${rank}), id limit $4`,
    [feed, after?.rank ?? -1, after?.id ?? 0, limit],
  );
  return rows.map((row) => ({ key: postingKey(row.key), cursor: { rank: row.rank, id: row.id } }));
}

/** How far a feed is from quiet. */
export interface BacklogCounts {
  /** May be sent now. */
  readonly due: number;
  /** Waits for its time. */
  readonly later: number;
  readonly sending: number;
  readonly inDoubt: number;
  /** Milliseconds until the next one that waits is due, if any waits. */
  readonly nextDueMs: number | undefined;
}

export async function countBacklog(db: Queryable, feeds: readonly FeedName[]): Promise<BacklogCounts> {
  const [row] = await db.query(
    `select count(*) filter (where state = 'ready' and not_before <= now()) as due,
       count(*) filter (where state = 'ready' and not_before > now()) as later,
       count(*) filter (where state = 'sending') as sending,
       count(*) filter (where state = 'in_doubt') as in_doubt,
       (extract(epoch from min(not_before) filter (where state = 'ready' and not_before > now()) - now()) * 1000)::float8 as next
     from change where feed = any($1::text[]) and state in ('ready', 'sending', 'in_doubt')`,
    [feeds],
  );
  return {
    due: row?.due ?? 0,
    later: row?.later ?? 0,
    sending: row?.sending ?? 0,
    inDoubt: row?.in_doubt ?? 0,
    nextDueMs: row?.next ?? undefined,
  };
}

/** Feeds that have something to send to a site; those that are no longer configured among them. */
export async function feedsWithBacklog(db: Queryable, site: SiteName): Promise<FeedName[]> {
  const rows = await db.query<{ feed: FeedName }>(
    `select distinct feed from change where site = $1 and state = 'ready'`,
    [site],
  );
  return rows.map((row) => row.feed);
}
