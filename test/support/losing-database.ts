// A database whose server ends a connection the moment it opens.
import type { Database } from '../../src/store/postgres/database.ts';

/** The database, whose session number `which`, counted from 1, is lost before its caller has it. */
export function losingDatabase(db: Database, which: number): Database {
  let opened = 0;
  return {
    ...db,
    async session(onLost, options) {
      let report = (): void => undefined;
      const isLost = new Promise<void>((resolve) => {
        report = resolve;
      });
      const session = await db.session((error, lost) => {
        report();
        onLost?.(error, lost);
      }, options);
      if (++opened === which) {
        await session.query('select pg_terminate_backend(pg_backend_pid())').catch(() => undefined);
        await isLost;
      }
      return session;
    },
  };
}
