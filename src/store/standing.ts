// Looks how far some feeds are from quiet, without counting what may be a million rows.
import type { FeedName } from '../posting/identifiers.ts';
import type { Queryable } from './database.ts';

export interface Standing {
  /** Something may be sent now. */
  readonly due: boolean;
  readonly sending: boolean;
  readonly inDoubt: boolean;
  /** Milliseconds until the next change that waits for its time is due; `undefined`: none waits. */
  readonly nextDueMs: number | undefined;
  /** Outcomes of the feeds' current pulls so far, to see whether anything moves. */
  readonly settled: number;
}

/** The last condition on `next` is that of its index. */
export async function readStanding(db: Queryable, feeds: readonly FeedName[]): Promise<Standing> {
  const [row] = await db.query(
    `select
       exists(select from change where feed = any($1::text[]) and state = 'ready' and not gone and not_before <= now()) as due,
       exists(select from change where feed = any($1::text[]) and state = 'sending') as sending,
       exists(select from change where feed = any($1::text[]) and state = 'in_doubt') as "inDoubt",
       (select (extract(epoch from min(not_before) - now()) * 1000)::float8 from change
         where feed = any($1::text[]) and state = 'ready' and not gone and not_before > now() and not_before > '-infinity') as next,
       (select coalesce(sum(t.n), 0) from feed_state f join tally t on t.pull = f.current_pull
         where f.feed = any($1::text[])) as settled`,
    [feeds],
  );
  return {
    due: row?.due,
    sending: row?.sending,
    inDoubt: row?.inDoubt,
    nextDueMs: row?.next ?? undefined,
    settled: Number(row?.settled ?? 0),
  };
}

/** How many changes of these feeds are still to be sent. */
export async function countUnsent(db: Queryable, feeds: readonly FeedName[]): Promise<number> {
  const [row] = await db.query<{ n: number }>(
    `select (select count(*) from change where feed = any($1::text[]) and state = 'ready' and not gone)
       + (select count(*) from change where feed = any($1::text[]) and state = 'sending') as n`,
    [feeds],
  );
  return row?.n ?? 0;
}
