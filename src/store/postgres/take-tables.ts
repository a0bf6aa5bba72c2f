// Takes all tables for a migration without a deadlock with running processes, which may be of an older version.
import type { Queryable } from './database.ts';

const LOCK_NOT_AVAILABLE = '55P03';

/** A running process uses the table. */
export class TableInUseError extends Error {
  readonly table: string;

  constructor(table: string, cause: unknown) {
    super(`another process uses the table ${table} of the database all the time: stop it, and try again`, { cause });
    this.table = table;
  }
}

/**
 * Locks the tables that exist, until the end of the transaction. Waits for `first` only, and holds no other table meanwhile:
 * whoever used two of them in another order would wait for this process as it waits for them.
 * Throws {@link TableInUseError}, after which the transaction must be rolled back.
 */
export async function takeTables(tx: Queryable, tables: readonly string[], first: string | undefined): Promise<void> {
  const rows = await tx.query<{ name: string }>(
    `select name from unnest($1::text[]) with ordinality t(name, n) where to_regclass(name) is not null
     order by (name = $2) desc nulls last, n`,
    [tables, first ?? null],
  );
  for (const { name } of rows) {
    const waits = name === first;
    try {
      if (waits) await tx.query(`set local lock_timeout = '5s'`);
      await tx.query(`lock table ${name} in access exclusive mode ${waits ? '' : 'nowait'}`);
      if (waits) await tx.query('set local lock_timeout to default');
    } catch (error) {
      if ((error as { code?: string }).code === LOCK_NOT_AVAILABLE) throw new TableInUseError(name, error);
      throw error;
    }
  }
}
