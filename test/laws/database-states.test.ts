// A sync during every state that a Postgres server goes through in a failover or a restart: answered creates are recorded.
// @module-tag slow
import { describe, expect } from 'vitest';
import { spread } from '../support/extent.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { openedForAll } from '../support/opened.ts';
import { patientSite } from '../support/patient-site.ts';
import { runSql } from '../support/sql.ts';
import { inTheMiddle } from './in-the-middle.ts';
import type { Installation, Running } from './installation.ts';
import { lawTest as it, QUEUES } from './law-test.ts';
import { checkLaws } from './laws.ts';
import { openPrivateServer, type PrivateServer } from './private-server.ts';

const FEED = postings(200);

interface State {
  readonly state: string;
  /** Puts the server into the state; resolves when the state is over. */
  readonly pass: (server: PrivateServer) => Promise<unknown>;
}

/** Duration of the state, measured by the server itself; long enough for every request in flight to be answered in it. */
const lasting = async (server: PrivateServer): Promise<void> => {
  const url = new URL(server.url);
  url.searchParams.set('options', '-c statement_timeout=0');
  await runSql(url.href, 'select pg_sleep(2)');
};

const endSessions = (server: PrivateServer) =>
  runSql(server.url, 'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()');

const server = openedForAll(() => openPrivateServer());

const STATES: readonly State[] = [
  {
    state: 'read-only, as in a failover',
    async pass(server) {
      await server.set({ default_transaction_read_only: 'on' });
      await lasting(server);
      await server.set({ default_transaction_read_only: null });
    },
  },
  {
    state: 'ending statements after a millisecond',
    async pass(server) {
      await server.set({ statement_timeout: '1ms' });
      await lasting(server);
      await server.set({ statement_timeout: null });
    },
  },
  { state: 'stopped by an administrator and started again', pass: (server) => server.restart() },
  { state: 'crashed, and recovering', pass: (server) => server.crash() },
  {
    state: 'ending all sessions, three times',
    async pass(server) {
      for (let time = 0; time < 3; time++) {
        await endSessions(server);
        await runSql(server.url, 'select pg_sleep(0.5)');
      }
    },
  },
];

const answeredCreates = ({ sandbox }: Installation): number =>
  sandbox.requests.recent().filter(({ method, status }) => method === 'POST' && status === 201).length;

/** Resolves when some more requests were answered. @throws Error if the process has ended before. */
async function untilProgress({ sandbox }: Installation, { ended }: Running): Promise<void> {
  let left = 6;
  const reached = sandbox.requests.next(() => --left === 0).then(() => undefined);
  const early = await Promise.race([reached, ended]);
  if (early !== undefined) throw new Error(`the sync ended before all states had passed:\n${early.output}`);
}

describe.each(QUEUES)('with the queue in $queue $note', ({ queue, available }) => {
  const passed = spread(
    STATES,
    QUEUES.findIndex((each) => each.queue === queue),
    2,
  );

  it.skipIf(!available)(
    `a server that is ${passed.map(({ state }) => state).join('; ')} only causes a delay`,
    { timeout: 900_000 },
    async ({ open }) => {
      // Without a list action, only the recorded response can tell the outcome of a create.
      // The sandbox shares this process: a late response must not become a doubt.
      const site = {
        list_path: undefined,
        ...patientSite(30),
      };
      const installation = await open({ queue, databaseUrl: await server.newDatabase(), site });
      const { begun } = await inTheMiddle(installation, FEED, () => installation.spawn(['sync', '--json']));
      // Slow enough that all states pass before the end.
      await installation.sandbox.setFaults([{ name: 'latency', ms: 1_000 }]);
      for (const { pass } of passed) {
        await untilProgress(installation, begun);
        await pass(server);
      }
      await installation.sandbox.setFaults([]);
      const { status, output } = await begun.ended;
      const report = JSON.parse(output.match(/^\{"feed".*$/m)?.[0] ?? JSON.stringify({ output }));
      expect({ exit: status, ...report }).toMatchObject({
        exit: 0,
        status: 'mirrored',
        created: FEED.length,
        in_doubt: 0,
      });
      expect(answeredCreates(installation)).toBe(FEED.length);
      await checkLaws(installation, FEED);
      await installation.stopEngine();
    },
  );
});

describe('a server that stays read-only', () => {
  it('can be read, and commands that write report it in one line', { timeout: 900_000 }, async ({ open }) => {
    const installation = await open({ databaseUrl: await server.newDatabase() });
    await server.set({ default_transaction_read_only: 'on' });
    expect(await installation.spawn(['status']).ended).toMatchObject({ status: 0 });
    const { status, output } = await installation.spawn(['resume', 'board']).ended;
    expect({ status, lines: output.trim().split('\n') }).toEqual({
      status: 1,
      lines: [expect.stringMatching(/^jobmirror: the database can't be used .* read-only .*25006.*try again later$/)],
    });
    await server.set({ default_transaction_read_only: null });
  });
});

describe('a standby that was promoted', () => {
  it('and lacks a job makes it no second time', { timeout: 900_000 }, async ({ open }) => {
    const installation = await open({ databaseUrl: await server.newDatabase() });
    const feed = postings(3);
    expect(await installation.syncOf(feed)).toMatchObject({ created: 3 });
    // What the primary had stored last.
    for (const table of ['mapping', 'document']) await installation.query(`delete from ${table} where key = 'p3'`);
    await installation.stopEngine();
    await server.failOver();
    await installation.writeFeed(feedXml(postings(4)));
    const { status, output } = await installation.spawn(['sync', '--json']).ended;
    expect(output).toContain('as after a failover');
    expect(output).toMatch(/"created":1,.*"in_doubt":1/);
    expect(status).toBe(2);
    expect(await installation.sandbox.inspect.duplicates()).toEqual([]);
    await installation.stopEngine();
  });

  it('and lacks nothing sends what is due', { timeout: 900_000 }, async ({ open }) => {
    const installation = await open({ databaseUrl: await server.newDatabase() });
    expect(await installation.syncOf(postings(3))).toMatchObject({ created: 3 });
    await server.failOver();
    await installation.writeFeed(feedXml(postings(5)));
    expect(await installation.spawn(['sync', '--json']).ended).toMatchObject({ status: 0 });
    await checkLaws(installation, postings(5));
    await installation.stopEngine();
  });
});
