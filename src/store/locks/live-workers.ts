// Finds the live processes of this database: each holds an advisory lock under its worker number.

/** First half of the two-part advisory locks of live workers; the second half is the worker number. */
export const LEASE = 0x6a6d;

/** A live process sends a heartbeat every few seconds (`keepAlive`); one that is silent for this long has stalled. */
const STALLED_SECONDS = 30;

/**
 * Query for the numbers of live processes that have not stalled, as `worker`. A stopped process keeps its lock, as it may
 * continue, but must not keep others from taking over its work.
 */
export const RUNNING_WORKERS = `select l.objid::bigint as worker from pg_locks l left join pg_stat_activity a on a.pid = l.pid
  where l.locktype = 'advisory' and l.classid = ${LEASE} and l.granted
    and l.database = (select oid from pg_database where datname = current_database())
    and not coalesce(a.state = 'idle'
      and a.state_change < clock_timestamp() - interval '${STALLED_SECONDS} seconds', false)`;

/** Query for the keys of the advisory locks of one 64-bit key that live processes hold, as text in `key`. */
export const HELD_KEYS = `select ((classid::bigint << 32) | objid::bigint)::text as key from pg_locks
  where locktype = 'advisory' and objsubid = 1 and granted
    and database = (select oid from pg_database where datname = current_database())`;

/** Query for the numbers of all live processes, as `worker`, to be joined. */
export const LIVE_WORKERS = `select objid::bigint as worker from pg_locks
  where locktype = 'advisory' and classid = ${LEASE} and granted
    and database = (select oid from pg_database where datname = current_database())`;
