// Gives a test file a Postgres database of its own, with our tables in it, in some ten milliseconds.
import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { runSql, withDatabase } from './sql.ts';

/** A database that nobody else uses; `drop` ends what is still connected to it. */
export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** Copies the migrated template to a new database, or makes one without tables where `empty` is set. */
export async function createTestDatabase(options: { readonly empty?: boolean } = {}): Promise<TestDatabase> {
  const server = inject('postgresUrl');
  const name = `test_${randomBytes(8).toString('hex')}`;
  const template = options.empty ? 'template0' : inject('postgresTemplate');
  await runSql(server, `create database ${name} template ${template} strategy file_copy`);
  return {
    url: withDatabase(server, name),
    drop: async () => {
      await runSql(server, `drop database if exists ${name} with (force)`);
    },
  };
}
