// Reads several things as they were at one moment.
import type { Database, Session } from './database.ts';

/** Every statement of `work` sees the database as of the first one. It can't write. */
export async function inSnapshot<T>(db: Database, work: (session: Session) => Promise<T>): Promise<T> {
  const session = await db.lend();
  try {
    await session.query('begin isolation level repeatable read read only');
    const result = await work(session);
    await session.query('commit');
    session.giveBack();
    return result;
  } catch (error) {
    // Its transaction may be in any state, so the connection is not used again.
    await session.end().catch(() => undefined);
    throw error;
  }
}
