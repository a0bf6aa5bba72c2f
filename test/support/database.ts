// Gives a test file a Postgres database of its own with our tables, in about ten milliseconds.
import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { runSql, withDatabase } from './sql.ts';

/** A private database; `drop` also ends its remaining connections. */
export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
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
  await runSql(server, `create database ${name} template ${template} strategy file_copy`);
  return {
    url: withDatabase(server, name),
    drop: async () => {
      await runSql(server, `drop database if exists ${name} with (force)`);
    },
  };
}
