// Leadership: one leader at a time, and never one whose connection has gone silent.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { lockKey } from '../../src/store/locks/advisory-locks.ts';
import { standForLead } from '../../src/store/locks/leadership.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const KEY = lockKey('lead', 'board');
let testDatabase: TestDatabase;
let direct: Database;
beforeEach(async () => {
  testDatabase = await createTestDatabase({ own: true });
  direct = openDatabase(testDatabase.url);
});
afterEach(async () => {
  await direct.close();
  await testDatabase.drop();
});

/** A proxy to the server that can silently hold up all data, like a network that drops packets. */
async function openWay(url: string) {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let isHeldUp = false;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => isHeldUp || to.write(bytes));
      from.on('error', () => undefined);
      from.on('close', () => to.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const through = new URL(url);
  // The tests connect over a socket otherwise.
  through.searchParams.delete('host');
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: through.href,
    holdUp: (held: boolean) => {
      isHeldUp = held;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

it('belongs to one candidate at a time, and is free after it resigns', async () => {
  const [one, other] = [standForLead(direct, KEY), standForLead(direct, KEY)];
  expect(await one.holds()).toBe(true);
  expect(await other.holds()).toBe(false);
  await one.resign();
  await expect.poll(() => other.holds(), { timeout: 10_000 }).toBe(true);
  await other.resign();
});

it('a check under way when its candidate resigns leaves neither a lock nor a connection', async () => {
  const candidate = openDatabase(testDatabase.url);
  const one = standForLead(candidate, KEY);
  const asked = one.holds();
  await one.resign();
  expect(await asked).toBe(true);
  expect(await one.resign()).toBeUndefined();
  const left = `select from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;
  await expect.poll(() => direct.query(left)).toEqual([]);
  await candidate.close();
});

it('ends when the server does not respond, and can be won again', { timeout: 30_000 }, async () => {
  const way = await openWay(testDatabase.url);
  const db = openDatabase(way.url);
  const lead = standForLead(db, KEY);
  const other = standForLead(direct, KEY);
  try {
    expect(await lead.holds()).toBe(true);
    way.holdUp(true);
    const asked = async () => lead.holds().catch((error: Error) => error.message);
    await expect.poll(asked, { timeout: 15_000 }).toContain('timeout');
    // The leader's connection is ended, so the server releases the lock.
    await expect.poll(() => other.holds(), { timeout: 10_000 }).toBe(true);
    way.holdUp(false);
    expect(await lead.holds()).toBe(false);
    await other.resign();
    await expect.poll(() => lead.holds(), { timeout: 10_000 }).toBe(true);
  } finally {
    await Promise.all([lead.resign(), other.resign()]);
    await db.close();
    await way.close();
  }
});
