// Reads the random name of this database's installation, which keeps its queues apart from others' on the same Redis.
import type { Queryable } from './database.ts';

export async function readInstallation(db: Queryable): Promise<string> {
  const [row] = await db.query<{ id: string }>('select id from installation');
  if (row === undefined) throw new Error('the database names no installation: it was not migrated');
  return row.id;
}
