// pgbouncer before the database: its mode "session" works, others are refused by each command before anything is sent.
import { afterEach, describe, expect, it } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForAll } from '../support/opened.ts';
import { withDatabase } from '../support/sql.ts';
import { pgbouncerForTests, postgresServers, type StartedServer } from './database-servers.ts';
import { liveThrough } from './life-of-database.ts';

const [postgres] = postgresServers();
const pgbouncer = pgbouncerForTests();

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

async function startPooler(...options: Parameters<typeof pgbouncer.start>): Promise<StartedServer> {
  const pooler = await pgbouncer.start(...options);
  open.push(pooler);
  return pooler;
}

const isAvailable = pgbouncer.available && postgres?.available === true;

describe.skipIf(!isAvailable)(`pgbouncer${pgbouncer.note}${postgres?.note}`, () => {
  const server = openedForAll(() => (postgres as NonNullable<typeof postgres>).start());

  it('in its mode "session" holds an installation for all of its life', async () => {
    const [first, second] = [await server.newDatabase(), await server.newDatabase()];
    const pooler = await startPooler(first, { mode: 'session' });
    await liveThrough(pooler.url, withDatabase(pooler.url, new URL(second).pathname.slice(1)));
  });

  // With one connection for all, with a few, and with connections that are used in turns.
  it.each([
    ['transaction', {}],
    ['transaction', { default_pool_size: 1 }],
    ['transaction', { default_pool_size: 3, server_round_robin: 1 }],
    ['statement', {}],
  ] as const)('in its mode "%s" (%o) is refused, and named', async (mode, settings) => {
    const pooler = await startPooler(await server.newDatabase(), { mode, settings });
    const mirror = await openMirror({ databaseUrl: pooler.url });
    open.push(mirror);
    await mirror.writeFeed(feedXml(postings(2)));
    const refusal = new RegExp(`pgbouncer: pool_mode = ${mode}\\)[^]*set pool_mode = session`);
    const check = await runProgram(mirror, 'check');
    expect(check.status).toBe(1);
    expect(check.out).toMatch(refusal);
    expect(check.out).not.toContain('is right');
    for (const command of ['sync', 'work', 'start', 'status']) {
      const { status, errors } = await runProgram(mirror, command);
      expect({ command, status }).toEqual({ command, status: 1 });
      expect(errors).toMatch(refusal);
    }
    expect(mirror.sandbox.requests.recent()).toEqual([]);
  });
});
