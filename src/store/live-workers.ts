// Tells which processes that work on this database live: each holds an advisory lock under its number.

/** First half of the two-part advisory locks that mark live workers; the other half is the worker's number. */
export const PRESENCE = 0x6a6d;

/** Numbers of the processes that live, as `worker`: a query for others to join. */
export const LIVE_WORKERS = `select objid::bigint as worker from pg_locks
  where locktype = 'advisory' and classid = ${PRESENCE} and granted
    and database = (select oid from pg_database where datname = current_database())`;
