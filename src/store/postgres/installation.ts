// Reads the random ID of this database's installation, which separates its queues from others on the same Redis.
import type { Queryable } from './database.ts';

export async function readInstallation(db: Queryable): Promise<string> {
  const [row] = await db.query<{ id: string }>('select id from installation');
  if (row === undefined) throw new Error('the database has no installation ID: it was not migrated');
  return row.id;
}
