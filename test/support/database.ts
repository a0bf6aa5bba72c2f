// Gives a test a Postgres database of its own with our tables.
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, inject } from 'vitest';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { openReset, type Reset, resetDatabase } from './reset-database.ts';
import './reversed-rows.ts';
import { dropConnections, endIdleConnections, idleConnections, keepConnections } from './reused-connections.ts';
import { whenUnused, withDatabase } from './sql.ts';

/** A private database; `drop` also ends the connections that are in use. */
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
  const pool = housekeeping;
  await whenUnused(() => pool.query(statement));
}

/** A copy of a template that this process uses for one test after another. */
interface Copy {
  readonly name: string;
  readonly template: string;
  /** Resets it. */
  keeper?: pg.Client;
}

/** The one that was used last is the next one. */
const free: Copy[] = [];

/**
 * Provides a database like the migrated template: a new copy, or one that an earlier test of this process has left.
 * @param options.empty creates one without tables. @param options.accounts whether the sandbox has the accounts of `accounts.ts`.
 * @param options.own creates one for this test only, whose connections end when they are closed.
 */
export async function createTestDatabase(
  options: { readonly empty?: boolean; readonly accounts?: boolean; readonly own?: boolean } = {},
): Promise<TestDatabase> {
  const server = inject('postgresUrl');
  const migrated = inject(options.accounts ? 'postgresTemplateWithAccounts' : 'postgresTemplate');
  const template = options.empty ? 'template0' : migrated.name;
  const reset = options.empty || options.own ? undefined : migrated.reset;
  const left = reset && free.findLast((copy) => copy.template === template);
  if (left !== undefined) free.splice(free.indexOf(left), 1);
  const copy = left ?? { name: `test_${inject('run')}_${randomBytes(8).toString('hex')}`, template };
  if (left === undefined) await keepHouse(`create database ${copy.name} template ${template} ${inject('fileCopy')}`);
  const url = withDatabase(server, copy.name);
  if (reset !== undefined) keepConnections(copy.name);
  let dropped = false;
  return {
    url,
    drop: async () => {
      if (dropped) return;
      dropped = true;
      if (reset !== undefined && (await isReset(url, copy, reset))) {
        free.push(copy);
        return;
      }
      dropConnections(copy.name);
      await copy.keeper?.end();
      await keepHouse(`drop database if exists ${copy.name} with (force)`);
    },
  };
}

/**
 * Opens a database for all tests of the calling file together, or a new one for each test, and ends it after them.
 * @param options.max how many connections it may have @param use is given the database before the tests
 */
export function databaseFor(
  scope: 'file' | 'test',
  options: { readonly max?: number },
  use: (db: Database) => void,
): void {
  const [before, after] = scope === 'file' ? [beforeAll, afterAll] : [beforeEach, afterEach];
  let database: TestDatabase;
  let db: Database;
  before(async () => {
    database = await createTestDatabase();
    db = openDatabase(database.url, options);
    use(db);
  });
  after(async () => {
    await db.close();
    await database.drop();
  });
}

/** False if it can't be reset, or not be trusted: the test has changed its tables, or ended connections. */
async function isReset(url: string, copy: Copy, reset: Reset): Promise<boolean> {
  copy.keeper ??= await openReset(url, reset);
  const kept = await idleConnections(copy.name);
  const alive = await resetDatabase(copy.keeper, reset, kept).catch(() => undefined);
  if (alive === undefined) return false;
  endIdleConnections(copy.name, (processID) => !alive.includes(processID));
  return true;
}
