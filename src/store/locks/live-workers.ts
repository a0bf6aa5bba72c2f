// Tells which processes that work on this database live: each holds an advisory lock under its number.

/** First half of the two-part advisory locks that mark live workers; the other half is the worker's number. */
export const LEASE = 0x6a6d;

/** A process speaks every few seconds (`keepSpeaking`); one that has been silent for this long stands still. */
const STANDS_STILL_SECONDS = 30;

/**
 * Numbers of the processes that live and do not stand still, as `worker`. A process that is stopped keeps its lock: it may
 * go on, and must not keep others from what it had begun meanwhile.
 */
export const RUNNING_WORKERS = `select l.objid::bigint as worker from pg_locks l left join pg_stat_activity a on a.pid = l.pid
  where l.locktype = 'advisory' and l.classid = ${LEASE} and l.granted
    and l.database = (select oid from pg_database where datname = current_database())
    and not coalesce(a.state = 'idle'
      and a.state_change < clock_timestamp() - interval '${STANDS_STILL_SECONDS} seconds', false)`;

/** Numbers of the processes that live, as `worker`: a query for others to join. */
export const LIVE_WORKERS = `select objid::bigint as worker from pg_locks
  where locktype = 'advisory' and classid = ${LEASE} and granted
    and database = (select oid from pg_database where datname = current_database())`;
