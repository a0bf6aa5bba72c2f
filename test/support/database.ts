// Gives a test file a Postgres database of its own with our tables, in about ten milliseconds.
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { withDatabase } from './sql.ts';

/** A private database; `drop` also ends its remaining connections. */
export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

let housekeeping: pg.Pool | undefined;

/** Creates and drops databases on one connection of this process: opening one costs more than most statements. */
async function keepHouse(statement: string): Promise<void> {
  if (housekeeping === undefined) {
    housekeeping = new pg.Pool({ connectionString: inject('postgresUrl'), max: 1, allowExitOnIdle: true });
    housekeeping.on('error', () => undefined);
  }
  await housekeeping.query(statement);
}

/**
 * Copies the migrated template to a new database.
 * @param options.empty creates one without tables. @param options.accounts whether the sandbox has the accounts of `accounts.ts`.
 */
export async function createTestDatabase(
  options: { readonly empty?: boolean; readonly accounts?: boolean } = {},
): Promise<TestDatabase> {
  const server = inject('postgresUrl');
  const name = `test_${randomBytes(8).toString('hex')}`;
  const migrated = inject(options.accounts ? 'postgresTemplateWithAccounts' : 'postgresTemplate');
  const template = options.empty ? 'template0' : migrated;
  await keepHouse(`create database ${name} template ${template} strategy file_copy`);
  return {
    url: withDatabase(server, name),
    drop: async () => {
      await keepHouse(`drop database if exists ${name} with (force)`);
    },
  };
}
