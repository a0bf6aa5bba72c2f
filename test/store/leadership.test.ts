// Leadership: one leader at a time, and never one whose connection has gone silent.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { lockKey } from '../../src/store/locks/advisory-locks.ts';
import { createCandidacy } from '../../src/store/locks/leadership.ts';
import { type Database, LOCK_TIMING, openDatabase } from '../../src/store/postgres/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { openDatabaseProxy } from '../support/database-proxy.ts';
import { losingDatabase } from '../support/losing-database.ts';

const KEY = lockKey('lead', 'board');
let testDatabase: TestDatabase;
let direct: Database;
beforeEach(async () => {
  testDatabase = await createTestDatabase({ own: true });
  // No answer is to be missed because the machine is slow.
  direct = openDatabase(testDatabase.url, { lockTiming: { ...LOCK_TIMING, answerWithinMs: 60_000 } });
});
afterEach(async () => {
  await direct.close();
  await testDatabase.drop();
});

it('belongs to one candidate at a time, and is free after it resigns', async () => {
  const [one, other] = [createCandidacy(direct, KEY), createCandidacy(direct, KEY)];
  expect(await one.holds()).toBe(true);
  expect(await other.holds()).toBe(false);
  await one.resign();
  await expect.poll(() => other.holds()).toBe(true);
  await other.resign();
});

it('a check under way when its candidate resigns leaves neither a lock nor a connection', async () => {
  const candidate = openDatabase(testDatabase.url);
  const one = createCandidacy(candidate, KEY);
  const asked = one.holds();
  await one.resign();
  expect(await asked).toBe(true);
  expect(await one.resign()).toBeUndefined();
  const left = `select from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;
  await expect.poll(() => direct.query(left)).toEqual([]);
  await candidate.close();
});

it('is won on another connection if one is lost as soon as it opens', async () => {
  const lead = createCandidacy(losingDatabase(direct, 1), KEY);
  await expect(lead.holds()).rejects.toThrow();
  expect(await lead.holds()).toBe(true);
  await lead.resign();
});

it('ends when the server does not respond, and can be won again', async () => {
  const proxy = await openDatabaseProxy(testDatabase.url);
  const { pass } = proxy;
  const db = openDatabase(proxy.url);
  const lead = createCandidacy(db, KEY);
  const other = createCandidacy(direct, KEY);
  try {
    expect(await lead.holds()).toBe(true);
    // Like a network that drops packets.
    proxy.pass = () => undefined;
    const asked = async () => lead.holds().catch((error: Error) => error.message);
    await expect.poll(asked).toContain('timeout');
    // The leader's connection is ended, so the server releases the lock.
    await expect.poll(() => other.holds()).toBe(true);
    proxy.pass = pass;
    await expect.poll(asked).toBe(false);
    await other.resign();
    await expect.poll(() => lead.holds()).toBe(true);
  } finally {
    await Promise.all([lead.resign(), other.resign()]);
    await db.close();
    await proxy.close();
  }
});
