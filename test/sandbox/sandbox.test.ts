// The sandbox as its callers see it: restarts, several at once, accounts, inspection.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAccounts } from '../../src/sandbox/accounts.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { jobOf, nurse, openTestSandbox, type TestSandbox } from './test-sandbox.ts';

let site: TestSandbox;

beforeAll(async () => {
  site = await openTestSandbox({ keepRequests: 3 });
});
afterAll(() => site.end());

describe('a restart', () => {
  it('finds jobs, accounts and tokens again', async () => {
    const id = await site.create({ ...nurse, number: '007' });
    const second = await startSandbox({ databaseUrl: site.databaseUrl, connections: 2 });
    try {
      expect((await second.inspect.jobs()).map((job) => job.id)).toContain(id);
      expect(await second.ensureUser('ann@example.com', 'correct horse')).toEqual({ token: site.token });
    } finally {
      await second.close();
    }
  });

  it('of several at once on a new database creates the tables once', async () => {
    const database = await createTestDatabase({ empty: true });
    const starts = [0, 1, 2].map(() => startSandbox({ databaseUrl: database.url, connections: 2 }));
    const started = await Promise.allSettled(starts);
    for (const start of started) if (start.status === 'fulfilled') await start.value.close();
    await database.drop();
    expect(started.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
  });
});

describe('starting', () => {
  it('fails with the reason if the port is in use', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await expect(startSandbox({ databaseUrl: site.databaseUrl, port })).rejects.toThrow(/EADDRINUSE/);
    server.close();
  });

  it('fails with the reason if the database is unreachable', async () => {
    await expect(startSandbox({ databaseUrl: 'postgres://nobody@127.0.0.1:1/none' })).rejects.toThrow(/ECONNREFUSED/);
  });
});

describe('accounts', () => {
  it('can be given a token that is known in advance', async () => {
    await site.sandbox.ensureUser('known@example.com', 'some password', 'a-known-token');
    expect(await site.sandbox.ensureUser('known@example.com', 'some password')).toEqual({ token: 'a-known-token' });
    expect((await site.send('GET', '/account/jobs.xml', { token: 'a-known-token' })).status).toBe(200);
  });

  it('are not taken over with another password', async () => {
    await expect(site.sandbox.ensureUser('ann@example.com', 'another')).rejects.toThrow(
      /already, with another password/,
    );
  });

  it('must exist to change their password', async () => {
    await expect(site.sandbox.changePassword('nobody@example.com', 'x')).rejects.toThrow(
      /no account nobody@example.com/,
    );
  });

  it('do not accept an old token because of a look-up in flight when it changed', async () => {
    const { token } = await site.sandbox.ensureUser('busy@example.com', 'some password');
    const pool = new Pool({ connectionString: site.databaseUrl, max: 2 });
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    // The database responds at once, but its response to the look-up arrives late.
    const late = Object.assign(Object.create(pool) as Pool, {
      query: async (text: string, values: unknown[]) => {
        const result = await pool.query(text, values);
        if (text.includes('where token =')) await held;
        return result;
      },
    });
    const accounts = openAccounts(late);
    const account = await accounts.byEmail('busy@example.com');
    const lookUp = accounts.byToken(token);
    await accounts.changePassword(account?.id ?? 0, 'another one');
    release();
    expect(await lookUp).toEqual(account);
    expect(await accounts.byToken(token)).toBeUndefined();
    await pool.end();
  });
});

describe('inspection', () => {
  it('finds duplicates by a field, per owner', async () => {
    const bob = await site.sandbox.ensureUser('bob@example.com', 'some password');
    const ids = [await site.create({ ...nurse, number: 'D1' }), await site.create({ ...nurse, number: 'D1' })];
    await site.create({ ...nurse, number: 'D2' });
    await site.create(nurse);
    await site.create(nurse);
    await site.send('POST', '/jobs.xml', { token: bob.token, body: jobOf({ ...nurse, number: 'D2' }) });
    expect(await site.sandbox.inspect.duplicates()).toEqual([{ owner: 'ann@example.com', value: 'D1', ids }]);
    expect(await site.sandbox.inspect.duplicates('title')).toHaveLength(1);
  });

  it('removes a job, as if by hand', async () => {
    const id = await site.create(nurse);
    expect(await site.sandbox.inspect.removeJob(id)).toBe(true);
    expect(await site.sandbox.inspect.removeJob(id)).toBe(false);
    expect((await site.send('DELETE', `/jobs/${id}.xml`, { token: site.token })).status).toBe(404);
  });

  it('keeps the last requests, bounded, with request and response', async () => {
    const before = site.sandbox.requests.total();
    const next = site.sandbox.requests.next(({ operation }) => operation === 'create');
    for (let at = 0; at < 7; at += 1) await site.send('GET', `/jobs.xml?page=${at}`);
    const body = jobOf({ ...nurse, description: 'x'.repeat(10_000) });
    await site.send('POST', '/jobs.xml?a=b', { token: site.token, body });
    expect(await next).toMatchObject({
      method: 'POST',
      path: '/jobs.xml?a=b',
      operation: 'create',
      account: 'ann@example.com',
      body: body.slice(0, 8_192),
      faults: [],
      processed: 201,
      status: 201,
    });
    const recent = site.sandbox.requests.recent();
    expect(recent).toHaveLength(3);
    expect(recent.map(({ path }) => path)).toEqual(['/jobs.xml?page=5', '/jobs.xml?page=6', '/jobs.xml?a=b']);
    expect(site.sandbox.requests.total()).toBe(before + 8);
    expect(JSON.stringify(recent)).not.toContain(site.token);
    site.sandbox.requests.clear();
    expect(site.sandbox.requests.recent()).toEqual([]);
  });
});

it('many concurrent creates: each creates one job', async () => {
  const before = await site.sandbox.inspect.count();
  const ids = await Promise.all(Array.from({ length: 60 }, (_, at) => site.create({ ...nurse, number: `M${at}` })));
  expect(new Set(ids).size).toBe(60);
  expect(await site.sandbox.inspect.count()).toBe(before + 60);
});

it('many concurrent updates of one job: every field is set at the end', async () => {
  const id = await site.create(nurse);
  const fields = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`field-${at}`, 'x']));
  await Promise.all(
    Object.entries(fields).map(([name, value]) =>
      site.send('PUT', `/jobs/${id}.xml`, { token: site.token, body: jobOf({ [name]: value }) }),
    ),
  );
  const job = (await site.sandbox.inspect.jobs()).find((candidate) => candidate.id === id);
  expect(job?.fields).toEqual({ ...nurse, ...fields });
});
