// Runs single statements for test housekeeping, such as creating and dropping databases.
import pg from 'pg';

/** Runs one statement on a connection of its own. */
export async function runSql<Row extends object>(
  url: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row & pg.QueryResultRow>(sql, values.length === 0 ? undefined : [...values])).rows;
  } finally {
    await client.end();
  }
}

/**
 * For statements that need a database without sessions. Postgres waits for five seconds for those that end, which is too short on a
 * loaded machine; here it is a minute.
 */
export async function whenUnused<Result>(statement: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await statement();
    } catch (error) {
      const isInUse = error instanceof pg.DatabaseError && error.code === '55006';
      if (!isInUse || tries === 12) throw error;
    }
  }
}

/** The same server's URL with another database. */
export function withDatabase(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}
