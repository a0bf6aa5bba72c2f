// Ends the connections of a process that holds an advisory lock and stands still, so that others need not wait for it.
import type { Queryable } from '../postgres/database.ts';

/** Whoever holds a lock shows that it runs by asking something; one that has not asked for this long stands still. */
const STALE_SECONDS = 15;
/** How often a holder that has nothing to ask says something all the same. */
const SPEAK_EVERY_MS = 3_000;

/** Advisory locks of one 64-bit key, as `pg_locks` shows them. */
const HOLDERS = `pg_locks l where l.locktype = 'advisory' and l.granted and l.objsubid = 1
  and l.database = (select oid from pg_database where datname = current_database())
  and ((l.classid::bigint << 32) | l.objid::bigint) = $1::bigint`;

/** Ends whoever holds the lock `key` and has said nothing for too long: alive to the server, but a stopped process. */
export async function endStaleLockHolder(session: Queryable, key: string): Promise<void> {
  await session.query(
    `select pg_terminate_backend(a.pid) from pg_stat_activity a
     where a.pid in (select l.pid from ${HOLDERS})
       and a.state = 'idle' and a.state_change < clock_timestamp() - make_interval(secs => $2)`,
    [key, STALE_SECONDS],
  );
}

/**
 * Marks a connection, for the rest of its transaction, as one by which the holder of a feed's lock works.
 * @param key names the same feed for another purpose.
 */
export async function markHand(session: Queryable, key: string): Promise<void> {
  await session.query('select pg_advisory_xact_lock_shared($1)', [key]);
}

/**
 * Ends the connections that somebody who held a feed's lock before worked by, whatever they are about, within a
 * transaction or a COPY: they have lost the lock that the caller has now.
 */
export async function endHands(session: Queryable, key: string): Promise<void> {
  await session.query(`select pg_terminate_backend(l.pid) from ${HOLDERS}`, [key]);
}

/** Keeps the connection that holds a lock from being taken for that of a stopped process. Gives what ends it. */
export function keepSpeaking(session: Queryable): () => void {
  const timer = setInterval(() => session.query('select 1').catch(() => undefined), SPEAK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
