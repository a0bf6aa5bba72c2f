// Makes one process the one that dispatches and tends a site's backlog, and replaces it when it dies or stands still.
import type { Database, Session } from './database.ts';

/** A candidacy for one lock, by asking again and again. */
export interface Leadership {
  /** Whether this process leads now. Tries to take over where nobody does. Throws where the database can't be reached. */
  holds(): Promise<boolean>;
  resign(): Promise<void>;
}

/** A leader shows that it runs by asking; one that has not asked for this long stands still and is replaced. */
const SILENT_SECONDS = 15;
/** How often the lock is looked at; in between the answer stands. */
const LOOK_EVERY_MS = 1_000;

/** Stands for a lock on a connection of its own, opened when it is first asked. */
export function standForLead(db: Database, key: string): Leadership {
  let session: Session | undefined;
  let leads = false;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<boolean> | undefined;

  async function look(): Promise<boolean> {
    session ??= await db.session(() => {
      session = undefined;
      leads = false;
    });
    if (leads) {
      await session.query('select 1');
    } else {
      const [row] = await session.query<{ got: boolean }>('select pg_try_advisory_lock($1) as got', [key]);
      leads = row?.got === true;
      if (!leads) await removeSilentLeader(session, key);
    }
    lookedAt = performance.now();
    return leads;
  }

  return {
    async holds() {
      if (performance.now() - lookedAt < LOOK_EVERY_MS && session !== undefined) return leads;
      looking ??= look().finally(() => {
        looking = undefined;
      });
      return looking;
    },
    async resign() {
      leads = false;
      const open = session;
      session = undefined;
      await open?.end().catch(() => undefined);
    },
  };
}

/** Ends the connection of a leader that is alive to the server but has said nothing for too long: a stopped process. */
async function removeSilentLeader(session: Session, key: string): Promise<void> {
  await session.query(
    `select pg_terminate_backend(l.pid)
     from pg_locks l join pg_stat_activity a on a.pid = l.pid
     where l.locktype = 'advisory' and l.granted and l.objsubid = 1
       and l.database = (select oid from pg_database where datname = current_database())
       and ((l.classid::bigint << 32) | l.objid::bigint) = $1::bigint
       and a.state = 'idle' and a.state_change < clock_timestamp() - make_interval(secs => $2)`,
    [key, SILENT_SECONDS],
  );
}
