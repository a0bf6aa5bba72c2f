// Removes rows beyond their retention, few at a time; whichever process comes first in an hour does it for all.
import type { Queryable } from './database.ts';

/** How long rows are kept. */
export interface RetentionDays {
  readonly requests: number;
  readonly failures: number;
  readonly audit: number;
  readonly pulls: number;
}

/** Whether this process is to remove old rows now; it costs nothing else while another one has done so of late. */
export async function claimRetention(db: Queryable): Promise<boolean> {
  const rows = await db.query(
    `update installation set retention_at = now()
     where retention_at is null or retention_at not between now() - interval '1 hour' and now() returning id`,
  );
  return rows.length > 0;
}

/** The process did not come to the end: the next one that asks goes on. */
export async function resumeRetentionSoon(db: Queryable): Promise<void> {
  await db.query('update installation set retention_at = null');
}

/** A pull takes some dozens of rows of its counts with it. */
const ROWS_OF_A_PULL = 50;

/**
 * Removes what is beyond its retention or says nothing any more, until none is left or `signal` aborts: `limit` rows a
 * statement, so that none holds locks for long, however many rows a busy day has left. What an open change, a live
 * posting or a feed out of service needs stays.
 */
export async function forgetOldRows(
  db: Queryable,
  days: RetentionDays,
  signal: AbortSignal,
  limit = 10_000,
): Promise<void> {
  const forget = async (table: string, column: string, retention: number, extra = '', most = limit) => {
    for (let removed = most; removed === most && !signal.aborted; ) {
      const [row] = await db.query<{ n: number }>(
        `with gone as (
           delete from ${table} where ctid = any(array(select ctid from ${table} t
             where ${column} < now() - make_interval(days => $1) ${extra} limit $2)) returning 1)
         select count(*) as n from gone`,
        [retention, most],
      );
      removed = row?.n ?? 0;
    }
  };
  await forget('request', 'at', days.requests);
  await forget('failure', 'at', days.failures);
  await forget('audit', 'at', days.audit);
  // The delete guard looks a day back.
  await forget('deletion', 'deleted_at', Math.max(2, days.requests));
  await forget(
    'pull',
    'started_at',
    days.pulls,
    'and not exists (select from feed_state f where f.current_pull = t.id)',
    Math.ceil(limit / ROWS_OF_A_PULL),
  );
  // Without fields they only stood for a request that might have arrived late.
  await forget('uncertain_write', 'until', 1, 'and fields is null');
  // Whoever holds such a token asks the site far more often.
  await forget('refused_token', 'changed_at', 7);
}
