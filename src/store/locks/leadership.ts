// Elects one process to dispatch and maintain a site's backlog, and replaces it when it dies or stalls.
import type { Database, Session } from '../postgres/database.ts';
import { endStaleLockHolder } from './advisory-locks.ts';

/** A candidacy for one lock, renewed by asking repeatedly. */
export interface Leadership {
  /**
   * Whether this process leads now. Tries to take over if nobody leads. Throws if the database is unreachable or does not
   * respond in time: then this process does not lead.
   */
  holds(): Promise<boolean>;
  resign(): Promise<void>;
}

/** How often the lock is checked; in between the last result is used. */
const CHECK_EVERY_MS = 1_000;

/** The connection on which this process leads, shared by all sites. */
interface LeaderSession {
  /** Open or opening; `undefined` until somebody asks after it was lost. */
  opening: Promise<Session> | undefined;
  /** The connection that is open now. */
  session: Session | undefined;
  /** A connection can take its own lock twice, so this set separates candidates for one lock within the process. */
  readonly held: Set<string>;
  /** How many candidates have asked and not resigned. */
  candidates: number;
  answeredAt: number;
}

const leaderSessions = new WeakMap<Database, LeaderSession>();

function leaderSessionOf(db: Database): LeaderSession {
  const known = leaderSessions.get(db);
  if (known !== undefined) return known;
  const made: LeaderSession = {
    opening: undefined,
    session: undefined,
    held: new Set(),
    candidates: 0,
    answeredAt: Number.NEGATIVE_INFINITY,
  };
  leaderSessions.set(db, made);
  return made;
}

/** Forgets a connection: its locks are released, or will be soon. */
function drop(shared: LeaderSession, lost: Session | undefined): void {
  if (lost === undefined || lost !== shared.session) return;
  shared.session = undefined;
  shared.opening = undefined;
  shared.held.clear();
}

function sessionOf(db: Database, shared: LeaderSession): Promise<Session> {
  if (shared.opening !== undefined) return shared.opening;
  const open = async (): Promise<Session> => {
    const opened = await db.session((_error, lost) => drop(shared, lost), {
      queryTimeoutMs: db.lockTiming.answerWithinMs,
    });
    if (shared.opening === opening) shared.session = opened;
    return opened;
  };
  const opening = open();
  opening.catch(() => {
    if (shared.opening === opening) shared.opening = undefined;
  });
  shared.opening = opening;
  return opening;
}

/** Creates a candidacy for a lock, on a connection that the process's candidates share and that the first call opens. */
export function createCandidacy(db: Database, key: string): Leadership {
  const shared = leaderSessionOf(db);
  /** The connection on which this candidate holds the lock. */
  let ledOn: Session | undefined;
  let isCandidate = false;
  let checkedAt = Number.NEGATIVE_INFINITY;
  let checking: Promise<boolean> | undefined;

  const leads = (): boolean => ledOn !== undefined && ledOn === shared.session;

  async function take(session: Session): Promise<void> {
    if (shared.held.has(key)) return;
    shared.held.add(key);
    let got = false;
    try {
      const [row] = await session.query<{ got: boolean }>('select pg_try_advisory_lock($1) as got', [key]);
      got = row?.got === true && session === shared.session;
    } finally {
      if (!got && session === shared.session) shared.held.delete(key);
    }
    if (got) ledOn = session;
    else await endStaleLockHolder(session, key, db.lockTiming);
  }

  async function check(): Promise<boolean> {
    if (!isCandidate) {
      isCandidate = true;
      shared.candidates++;
    }
    const session = await sessionOf(db, shared);
    try {
      if (!leads()) await take(session);
      else if (performance.now() - shared.answeredAt >= CHECK_EVERY_MS) await session.query('select 1');
    } catch (error) {
      drop(shared, session);
      await session.end().catch(() => undefined);
      throw error;
    }
    checkedAt = performance.now();
    shared.answeredAt = checkedAt;
    return leads();
  }

  return {
    async holds() {
      if (performance.now() - checkedAt < CHECK_EVERY_MS && shared.session !== undefined) return leads();
      checking ??= check().finally(() => {
        checking = undefined;
      });
      return checking;
    },
    async resign() {
      // A check under way would open a connection, or take the lock, after the resignation.
      while (checking !== undefined) await checking.catch(() => undefined);
      if (!isCandidate) return;
      isCandidate = false;
      shared.candidates--;
      checkedAt = Number.NEGATIVE_INFINITY;
      const session = leads() ? ledOn : undefined;
      ledOn = undefined;
      if (shared.candidates === 0) {
        const last = shared.session;
        drop(shared, last);
        await last?.end().catch(() => undefined);
      } else if (session !== undefined) {
        try {
          await session.query('select pg_advisory_unlock($1)', [key]);
          shared.held.delete(key);
        } catch {
          // Ending the connection makes the server release the lock.
          drop(shared, session);
          await session.end().catch(() => undefined);
        }
      }
    },
  };
}
