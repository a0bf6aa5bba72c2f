// Makes one process the one that dispatches and tends a site's backlog, and replaces it when it dies or stands still.
import type { Database, Session } from './database.ts';
import { endSilentHolder } from './silent-holder.ts';

/** A candidacy for one lock, by asking again and again. */
export interface Leadership {
  /**
   * Whether this process leads now. Tries to take over where nobody does. Throws where the database can't be reached, or
   * does not answer in time: then it does not lead.
   */
  holds(): Promise<boolean>;
  resign(): Promise<void>;
}

/** How often the lock is looked at; in between the answer stands. */
const LOOK_EVERY_MS = 1_000;
/** Shorter than a leader may be silent: it knows that it lost touch before another one leads. */
const ANSWER_WITHIN_MS = 5_000;

/** Stands for a lock on a connection of its own, opened when it is first asked. */
export function standForLead(db: Database, key: string): Leadership {
  let session: Session | undefined;
  let leads = false;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<boolean> | undefined;

  /** Forgets a connection: whatever it held is not held any more, or not for long. */
  function drop(lost: Session | undefined): void {
    if (lost === undefined || lost !== session) return;
    session = undefined;
    leads = false;
  }

  async function openSession(): Promise<Session> {
    const opened: Session = await db.session(() => drop(opened), { queryTimeoutMs: ANSWER_WITHIN_MS });
    session = opened;
    return opened;
  }

  async function look(): Promise<boolean> {
    const asked = session ?? (await openSession());
    try {
      if (leads) {
        await asked.query('select 1');
      } else {
        const [row] = await asked.query<{ got: boolean }>('select pg_try_advisory_lock($1) as got', [key]);
        leads = row?.got === true && asked === session;
        if (!leads) await endSilentHolder(asked, key);
      }
    } catch (error) {
      drop(asked);
      await asked.end().catch(() => undefined);
      throw error;
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
