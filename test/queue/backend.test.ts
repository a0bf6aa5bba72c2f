import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { siteName } from '../../src/posting/identifiers.ts';
import { openQueueBackend } from '../../src/queue/backend.ts';
import { passwordForms, reportedError, reporter } from '../../src/queue/shared-connection.ts';
import { openSiteQueue } from '../../src/queue/site-queue.ts';
import { createTestDatabase } from '../support/database.ts';
import { runSql } from '../support/sql.ts';
import { redis } from './queue-backends.ts';

const SECRET = 'p%40ss-word';
const open = (queue: string, databaseUrl = '') =>
  openQueueBackend({ queue, databaseUrl, installation: 'test', onError: () => undefined });
/** Everything that printing an error may show. */
const allOf = (error: unknown): string => {
  const { message, stack, cause } = error as Error;
  return [message, stack, JSON.stringify(error), cause === undefined ? '' : allOf(cause)].join('\n');
};
const failureOf = (opening: Promise<unknown>): Promise<unknown> =>
  opening.then(
    () => {
      throw new Error('it opened');
    },
    (error: unknown) => error,
  );

describe('opening an unreachable queue', () => {
  test.each([
    ['not a URL', `redis//:${SECRET}@host`, /neither "database" nor a URL/],
    ['another protocol', `amqp://:${SECRET}@host`, /neither "database" nor a URL/],
    [
      'nobody listens',
      `redis://:${SECRET}@127.0.0.1:1`,
      /Redis at redis:\/\/127.0.0.1:1 can't be used: .*ECONNREFUSED/,
    ],
  ])('%s', async (_case, queue, message) => {
    const error = await failureOf(open(queue));
    expect(error).toHaveProperty('message', expect.stringMatching(message));
    expect(allOf(error)).not.toContain(SECRET);
    expect(allOf(error)).not.toContain(decodeURIComponent(SECRET));
  });

  test.skipIf(!redis.available)(`Redis refuses the password${redis.note}`, async () => {
    const server = await redis.start();
    const admin = new Redis(server.url);
    await admin.config('SET', 'requirepass', 'right');
    const error = await failureOf(open(server.url.replace('//', `//:${SECRET}@`)));
    expect(error).toHaveProperty('message', expect.stringMatching(/can't be used: WRONGPASS/));
    expect(allOf(error)).not.toContain(SECRET);
    expect(allOf(error)).not.toContain(decodeURIComponent(SECRET));
    admin.disconnect();
    await server.stop();
  });

  test('Postgres refuses the password', async () => {
    const database = await createTestDatabase({ empty: true });
    const url = new URL(database.url);
    url.password = SECRET;
    // Over TCP: the server of the tests asks for no password over its sockets.
    url.searchParams.delete('host');
    const error = await failureOf(open('database', url.href));
    expect(error).toHaveProperty('message', expect.stringMatching(/the database can't hold the queue: password auth/));
    expect(allOf(error)).not.toContain(SECRET);
    await database.drop();
  });
});

test('several processes may open the queue in one new database at once', async () => {
  const database = await createTestDatabase({ empty: true });
  await Promise.all(Array.from({ length: 4 }, () => open('database', database.url)));
  await database.drop();
});

test('a schema of an earlier version is migrated', async () => {
  const database = await createTestDatabase({ empty: true });
  await runSql(database.url, 'create schema queue');
  // As BullMQ creates it, before its first migration.
  await runSql(
    database.url,
    `create table queue.migration (version integer primary key, name text not null, min_client_version integer not null,
       applied_at timestamptz not null default now())`,
  );
  const queue = await openSiteQueue(await open('database', database.url), siteName('board'));
  expect(await queue.counts()).toEqual({ waiting: 0, active: 0 });
  await queue.close();
  await database.drop();
});

test('options in the database’s URL are kept in addition to those of the queue', async () => {
  const database = await createTestDatabase({ empty: true });
  const url = new URL(database.url);
  url.searchParams.set('options', '-c lock_timeout=7s');
  const queue = await openSiteQueue(await open('database', url.href), siteName('board'));
  expect(await queue.counts()).toEqual({ waiting: 0, active: 0 });
  const tables = await runSql(database.url, `select 1 from pg_tables where schemaname = 'queue' and tablename = 'job'`);
  expect(tables).toHaveLength(1);
  await queue.close();
  // Reads back which options reached the server.
  url.searchParams.set('options', '-c no_such_setting=1');
  await expect(open('database', url.href)).rejects.toThrow(/no_such_setting/);
  await database.drop();
});

test.skipIf(!redis.available)(`while Redis is away, adding fails instead of waiting${redis.note}`, async () => {
  const server = await redis.start();
  const queue = await openSiteQueue(await open(server.url), siteName('board'));
  await server.kill();
  await expect(queue.counts()).rejects.toThrow();
  await queue.close();
});

describe('reported errors', () => {
  test('keep only name, message and code', () => {
    const original = Object.assign(new TypeError('broken'), { code: 'EPIPE', command: { args: [SECRET] } });
    const copy = reportedError(original, []);
    expect({ ...copy, name: copy.name, message: copy.message }).toEqual({
      code: 'EPIPE',
      name: 'TypeError',
      message: 'broken',
    });
  });

  test.each([
    ['as written', SECRET],
    ['decoded', 'p@ss-word'],
  ])('a password that is %s is removed', (_case, secret) => {
    const secrets = passwordForms(new URL(`redis://:${SECRET}@host`));
    expect(reportedError(new Error(`${secret} and ${secret}`), secrets).message).toBe('*** and ***');
  });

  test('a thrown value that is not an error becomes one', () => {
    expect(reportedError('plain', []).message).toBe('plain');
  });

  test('the same message is reported once, and a different one too', () => {
    const messages: string[] = [];
    const report = reporter((error) => messages.push(error.message), []);
    for (const message of ['away', 'away', 'back', 'away']) report(new Error(message));
    expect(messages).toEqual(['away', 'back', 'away']);
  });

  test('a password with a lone percent sign is a secret too', () => {
    expect(passwordForms(new URL('redis://:100%@host'))).toEqual(['100%']);
  });
});
