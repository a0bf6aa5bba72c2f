// The locks of queue jobs that BullMQ keeps in the schema `queue` of this database: which of them a false clock left.
import type { Queryable } from '../postgres/database.ts';

/** `$1` the queue, `$2` how long its locks last, `$3` how much longer one of a right clock may seem to last; both in ms. */
const END_FALSE_TIMES = `with server as materialized (select (extract(epoch from clock_timestamp()) * 1000)::bigint as now),
  checked as (
    delete from queue.meta
     where queue = $1 and field = 'stalled-check' and value::bigint > (select now + $3::bigint from server)
  ),
  falsely_locked as (
    select id from queue.job
     where queue = $1 and state = 'active' and locked_until_ms > (select now + $2::bigint + $3::bigint from server)
    for update skip locked
  )
  update queue.job set locked_until_ms = (select now + $2::bigint from server)
   where queue = $1 and id in (select id from falsely_locked)`;

/**
 * Corrects what was locked, or put off, while the server's clock was ahead; it would stay so for as long as that. A live worker renews its
 * locks, which gives them the right time; those of a dead one now end a lock's time later. Both tables have no such row unless the
 * server's clock was set back.
 */
export async function endFalseQueueTimes(
  db: Queryable,
  queueName: string,
  lockMs: number,
  mostAheadMs: number,
): Promise<void> {
  await db.query(END_FALSE_TIMES, [queueName, lockMs, mostAheadMs]);
}
