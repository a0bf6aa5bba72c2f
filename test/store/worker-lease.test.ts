// A worker's lease: renewed when its connection is lost, and gone for good once the worker has left.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { countWorkers, enterAsWorker, type ProcessAbout } from '../../src/store/locks/processes.ts';
import { type Database, openDatabase, type Session } from '../../src/store/postgres/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { losingDatabase } from '../support/losing-database.ts';

let testDatabase: TestDatabase;
let observer: Database;
let db: Database;
beforeEach(async () => {
  testDatabase = await createTestDatabase({ own: true });
  observer = openDatabase(testDatabase.url);
  db = openDatabase(testDatabase.url);
});
afterEach(async () => {
  await Promise.all([db.close(), observer.close()]);
  await testDatabase.drop();
});

const ABOUT: ProcessAbout = { command: 'sync', host: 'one', pid: 1, parts: {}, feeds: new Map() };

/** Ends all other connections to the database, as an administrator would. */
const endSessions = () =>
  observer.query(
    `select pg_terminate_backend(pid, 10000) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
  );

/** Connections that hold or request a lease. */
const leases = async (): Promise<number> => {
  const [row] = await observer.query<{ n: number }>(
    `select count(*) as n from pg_locks where locktype = 'advisory'
       and database = (select oid from pg_database where datname = current_database())`,
  );
  return row?.n ?? 0;
};

it('is renewed after its connection is lost', async () => {
  const lost = vi.fn();
  const lease = await enterAsWorker(db, ABOUT, lost);
  expect(await countWorkers(observer)).toBe(1);
  await endSessions();
  await expect.poll(() => lost).toHaveBeenCalled();
  await expect.poll(() => countWorkers(observer)).toBe(1);
  await lease.leave();
  await expect.poll(leases).toBe(0);
});

it('stores exactly the start that the lease states, so that processes agree on which one is newer', async () => {
  const lease = await enterAsWorker(db, ABOUT, () => undefined);
  const same = 'select started_at = $1 as same from process where worker = $2';
  expect(await observer.query(same, [lease.startedAt, lease.worker])).toEqual([{ same: true }]);
  await lease.leave();
});

it('leaves no connection behind if the worker leaves while it is being renewed', async () => {
  const opened: Session[] = [];
  let go = (): void => undefined;
  const gone = new Promise<void>((resolve) => {
    go = resolve;
  });
  const renewing = vi.fn();
  const slow: Database = {
    ...db,
    async session(...given) {
      if (opened.length > 0) {
        renewing();
        await gone;
      }
      const session = await db.session(...given);
      opened.push(session);
      return session;
    },
  };
  const lease = await enterAsWorker(slow, ABOUT, () => undefined);
  await endSessions();
  await expect.poll(() => renewing).toHaveBeenCalled();
  await lease.leave();
  go();
  await expect.poll(() => opened).toHaveLength(2);
  const second = opened[1] as Session;
  const isOpen = () =>
    second.query('select 1').then(
      () => true,
      () => false,
    );
  await expect.poll(isOpen).toBe(false);
  expect(await leases()).toBe(0);
});

it('ends a connection on which it could not be recorded, so that the next one gets the lease', async () => {
  let opened = 0;
  let failed = false;
  const failing: Database = {
    ...db,
    transaction(...given) {
      if (opened !== 2 || failed) return db.transaction(...given);
      failed = true;
      return Promise.reject(new Error('the disk is full'));
    },
    session(...given) {
      opened++;
      return db.session(...given);
    },
  };
  const lease = await enterAsWorker(failing, ABOUT, () => undefined);
  await endSessions();
  await expect.poll(() => opened).toBe(3);
  await expect.poll(leases).toBe(1);
  await lease.leave();
  await expect.poll(leases).toBe(0);
});

it('is taken on another connection if one is lost as soon as it opens', async () => {
  const lease = await enterAsWorker(losingDatabase(db, 2), ABOUT, () => undefined);
  await endSessions();
  await expect.poll(() => countWorkers(observer)).toBe(1);
  await lease.leave();
  await expect.poll(leases).toBe(0);
});

it('is not taken later if it could not be at first', async () => {
  const lost = vi.fn();
  let tries = 0;
  const failing: Database = {
    ...db,
    async transaction(...given) {
      if (++tries > 1) return db.transaction(...given);
      await endSessions();
      await expect.poll(() => lost).toHaveBeenCalled();
      throw new Error('the disk is full');
    },
  };
  await expect(enterAsWorker(failing, ABOUT, lost)).rejects.toThrow('the disk is full');
  // Longer than until the lease of a worker would be renewed.
  await observer.query('select pg_sleep(2)');
  expect([tries, await countWorkers(observer)]).toEqual([1, 0]);
});
