// Ends the connections of a process that holds an advisory lock and stands still, so that others need not wait for it.
import type { Queryable } from './database.ts';

/** Whoever holds a lock shows that it runs by asking something; one that has not asked for this long stands still. */
const SILENT_SECONDS = 15;
/** How often a holder that has nothing to ask says something all the same. */
const SPEAK_EVERY_MS = 3_000;

/** First half of the two-part locks that mark the connections by which a holder works, besides the one with its lock. */
const HAND = 0x6a6e;

/** Ends whoever holds the lock `key` and has said nothing for too long: alive to the server, but a stopped process. */
export async function endSilentHolder(session: Queryable, key: string): Promise<void> {
  const ended = await session.query(
    `select pg_terminate_backend(l.pid)
     from pg_locks l join pg_stat_activity a on a.pid = l.pid
     where l.locktype = 'advisory' and l.granted and l.objsubid = 1
       and l.database = (select oid from pg_database where datname = current_database())
       and ((l.classid::bigint << 32) | l.objid::bigint) = $1::bigint
       and a.state = 'idle' and a.state_change < clock_timestamp() - make_interval(secs => $2)`,
    [key, SILENT_SECONDS],
  );
  if (ended.length > 0) await endHands(session, key);
}

/** Marks a connection as one by which the holder of `key` works: it ends with the holder. */
export async function markHand(session: Queryable, key: string): Promise<void> {
  await session.query('select pg_advisory_lock_shared($1, $2)', [HAND, halfOf(key)]);
}

/** Keeps the connection that holds a lock from being taken for that of a stopped process. Gives what ends it. */
export function keepSpeaking(session: Queryable): () => void {
  const timer = setInterval(() => session.query('select 1').catch(() => undefined), SPEAK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Whatever they are about, within a transaction or a COPY: nobody is there who could go on with it. */
async function endHands(session: Queryable, key: string): Promise<void> {
  await session.query(
    `select pg_terminate_backend(pid) from pg_locks
     where locktype = 'advisory' and classid = ${HAND} and objsubid = 2 and objid = $1::bigint
       and database = (select oid from pg_database where datname = current_database())`,
    [halfOf(key) >>> 0],
  );
}

/** The second half of a two-part lock is 32 bits wide. */
const halfOf = (key: string): number => Number(BigInt.asIntN(32, BigInt(key)));
