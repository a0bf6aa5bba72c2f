// Makes one process the one that dispatches and tends a site's backlog, and replaces it when it dies or stands still.
import type { Database, Session } from './database.ts';
import { endSilentHolder } from './silent-holder.ts';

/** A candidacy for one lock, by asking again and again. */
export interface Leadership {
  /** Whether this process leads now. Tries to take over where nobody does. Throws where the database can't be reached. */
  holds(): Promise<boolean>;
  resign(): Promise<void>;
}

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
      if (!leads) await endSilentHolder(session, key);
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
