// Feed locks: one holder at a time, within and between processes, on one connection however many are held.
import { hash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FeedName, feedName } from '../../src/posting/identifiers.ts';
import { blockPulls } from '../../src/store/change/edit.ts';
import { lockKey } from '../../src/store/locks/advisory-locks.ts';
import { lockFeed, lockPlanning } from '../../src/store/locks/feed-locks.ts';
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

it('have the same keys in every version, so that an old and a new process exclude each other', () => {
  const keys = (['pull', 'merge', 'lead', 'write'] as const).map((purpose) => lockKey(purpose, 'acme'));
  const texts = ['pull:acme', 'merge:acme', 'lead:acme', 'hand:acme'];
  expect(keys).toEqual(texts.map((text) => hash('sha1', text, 'buffer').readBigInt64BE(0).toString()));
});

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
  // Waits for the end: the server reports it before it frees the locks.
  await other.query(
    `select pg_terminate_backend(pid, 10000) from pg_locks where locktype = 'advisory'
       and database = (select oid from pg_database where datname = current_database())`,
  );
  await lost;
  expect(lock?.held()).toBe(false);
  await lock?.release();
  expect((await lockFeed(one, acme))?.held()).toBe(true);
});

describe('of a pull that requests details', () => {
  const { signal } = new AbortController();

  it('let others plan and edit, and nobody pull', async () => {
    const lock = await lockFeed(one, acme);
    await lock?.openToEdits();
    expect([await lockFeed(one, acme), await lockFeed(other, acme)]).toEqual([undefined, undefined]);
    for (const db of [one, other]) {
      const planning = await lockPlanning(db, acme, signal);
      expect(planning?.held()).toBe(true);
      expect(await lockFeed(other, acme)).toBe(undefined);
      await planning?.release();
    }
    expect(await other.transaction((tx) => blockPulls(tx, acme))).toBe(true);
    await lock?.release();
    expect((await lockFeed(other, acme))?.held()).toBe(true);
  });

  it('keep others out again, once they have ended', async () => {
    const lock = await lockFeed(one, acme);
    await lock?.openToEdits();
    for (const db of [one, other]) {
      const planning = await lockPlanning(db, acme, signal);
      let isClosed = false;
      const closing = lock?.closeToEdits(signal).then(() => {
        isClosed = true;
      });
      expect(await lockFeed(other, acme)).toBe(undefined);
      expect(isClosed).toBe(false);
      await planning?.release();
      await closing;
      expect(await lockFeed(other, acme)).toBe(undefined);
      const tried = other.query<{ got: boolean }>('select pg_try_advisory_lock($1) as got', [lockKey('pull', acme)]);
      expect(await tried).toEqual([{ got: false }]);
      await lock?.openToEdits();
    }
    await lock?.release();
    expect(await holders()).toBe(0);
  });

  it('wait for others only until they are told to stop', async () => {
    const lock = await lockFeed(one, acme);
    await lock?.openToEdits();
    const planning = await lockPlanning(other, acme, signal);
    const stopping = new AbortController();
    const closing = lock?.closeToEdits(stopping.signal);
    stopping.abort(new Error('stop'));
    await expect(closing).rejects.toThrow('stop');
    await planning?.release();
    await lock?.release();
    expect(await holders()).toBe(0);
  });

  it('are lost with their connection, while others have their own', async () => {
    const lock = await lockFeed(one, acme);
    await lock?.openToEdits();
    const planning = await lockPlanning(other, acme, signal);
    await other.query(
      `select pg_terminate_backend(pid, 10000) from pg_locks where locktype = 'advisory'
         and database = (select oid from pg_database where datname = current_database())
         and ((classid::bigint << 32) | objid::bigint) = $1::bigint`,
      [lockKey('details', acme)],
    );
    await expect.poll(() => lock?.held()).toBe(false);
    await expect(lock?.closeToEdits(signal)).rejects.toThrow();
    await lock?.release();
    expect(planning?.held()).toBe(true);
    expect(await lockFeed(one, acme)).toBe(undefined);
    await planning?.release();
    expect((await lockFeed(one, acme))?.held()).toBe(true);
  });
});
