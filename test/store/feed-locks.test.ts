// Feed locks: one holder at a time, within and between processes, on one connection however many are held.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type FeedName, feedName } from '../../src/posting/identifiers.ts';
import { lockFeed } from '../../src/store/locks/feed-locks.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let testDatabase: TestDatabase;
let one: Database;
let other: Database;
beforeEach(async () => {
  testDatabase = await createTestDatabase();
  // Ignores errors of connections that a test breaks on purpose.
  [one, other] = [openDatabase(testDatabase.url, { onError: () => undefined }), openDatabase(testDatabase.url)];
});
afterEach(async () => {
  await Promise.all([one.close(), other.close()]);
  await testDatabase.drop();
});

const acme = feedName('acme');
const many: FeedName[] = Array.from({ length: 300 }, (_, at) => feedName(`feed${at}`));
const holders = async () =>
  (
    await other.query<{ n: number }>(
      `select count(distinct pid) as n from pg_locks where locktype = 'advisory'
         and database = (select oid from pg_database where datname = current_database())`,
    )
  )[0]?.n;

it('have one holder at a time, within a process and between processes', async () => {
  const lock = await lockFeed(one, acme);
  expect([await lockFeed(one, acme), await lockFeed(other, acme)]).toEqual([undefined, undefined]);
  await lock?.release();
  const next = await lockFeed(other, acme);
  expect(next?.held()).toBe(true);
  expect(await lockFeed(one, acme)).toBe(undefined);
  await next?.release();
});

it('of hundreds of feeds share one connection, and none remains after release', async () => {
  const locks = await Promise.all(many.map((feed) => lockFeed(one, feed)));
  expect(locks.every((lock) => lock?.held())).toBe(true);
  expect(await holders()).toBe(1);
  await Promise.all(locks.map((lock) => lock?.release()));
  expect(await holders()).toBe(0);
  expect((await lockFeed(other, acme))?.held()).toBe(true);
});

it('report their loss, and can be taken again', async () => {
  const lock = await lockFeed(one, acme);
  const lost = new Promise((resolve) => lock?.lost.addEventListener('abort', resolve));
  await other.query(
    `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'
       and database = (select oid from pg_database where datname = current_database())`,
  );
  await lost;
  expect(lock?.held()).toBe(false);
  await lock?.release();
  expect((await lockFeed(one, acme))?.held()).toBe(true);
});
