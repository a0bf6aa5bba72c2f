// `jobmirror sync` as a process: what it prints when it is stopped, or when the queue or database is unavailable.
import { readFile, writeFile } from 'node:fs/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { pause } from '../../src/flow/pause.ts';
import { type Ends, endsTest } from '../support/ends-test.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';
import { patientSite } from '../support/patient-site.ts';
import { startProgram } from './program.ts';
import { type ProgramResult, runProgram } from './run-program.ts';

// Each command runs in a process of its own.

let mirror: Mirror;
const run = (...args: readonly string[]): Promise<ProgramResult> => runProgram(mirror, ...args);
afterEach(() => mirror?.close());

async function open(options: MirrorOptions = {}): Promise<void> {
  mirror = await openMirror(options);
  await mirror.writeFeed(feedXml(postings(4)));
}

/** Nothing listens there. */
const AWAY = '127.0.0.1:1';

/** A sync whose requests are in flight. */
async function inFlight(ends: Ends, latencyMs: number, ...options: readonly string[]) {
  const mirror = await openMirror({ site: patientSite(60) });
  ends.push(() => mirror.close());
  await mirror.writeFeed(feedXml(postings(4)));
  await mirror.sandbox.setFaults([{ name: 'latency', ms: latencyMs }]);
  const args = ['sync', ...options, '--config', mirror.configPath];
  const running = startProgram(args, { cwd: mirror.folder, env: mirror.env });
  await vi.waitFor(() => expect(mirror.sandbox.requests.total()).toBeGreaterThanOrEqual(5), { timeout: 60_000 });
  return { mirror, running };
}

endsTest.concurrent.for<[string, readonly number[]]>([
  ['', []],
  [', which npm passes on', [100]],
])('reports the outcome of requests in flight at Ctrl-C%s', { tags: 'slow' }, async ([, againAfterMs], { ends }) => {
  const { mirror, running } = await inFlight(ends, 1500, '--json');
  running.process.kill('SIGINT');
  for (const ms of againAfterMs) {
    await pause(ms);
    running.process.kill('SIGINT');
  }
  expect(await running.ended).toEqual({ status: 0, signal: null });
  const report = JSON.parse(running.out());
  expect(report).toMatchObject({ status: 'mirrored', created: 4, pending: 0 });
  expect(report).not.toHaveProperty('message');
  expect(await mirror.sandbox.inspect.count()).toBe(4);
});

endsTest.concurrent('ends at once at a second Ctrl-C', { tags: 'slow' }, async ({ ends }) => {
  const { running } = await inFlight(ends, 4_000);
  running.process.kill('SIGINT');
  await pause(1_000);
  running.process.kill('SIGINT');
  expect(await running.ended).toEqual({ status: 130, signal: null });
});

describe('with --json prints a line for each feed', () => {
  it('if the queue is unavailable, and ends the pull with the reason', async () => {
    await open({ queue: `redis://${AWAY}` });
    const { status, json } = await run('sync', '--json');
    const message = expect.stringContaining(`queue: Redis at redis://${AWAY} can't be used`);
    expect(json()).toEqual([
      expect.objectContaining({ feed: 'acme', pull: 1, status: 'pending', pending: 4, message }),
    ]);
    expect(status).toBe(1);
    expect((await run('pulls', '--json')).json()).toEqual([expect.objectContaining({ status: 'pending', message })]);
  });

  it('if the database is unavailable, naming the setting', async () => {
    await open();
    const config = await readFile(mirror.configPath, 'utf8');
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as written in the configuration.
    await writeFile(mirror.configPath, config.replace('${DATABASE_URL}', `postgres://${AWAY}/jobmirror`));
    const { status, json } = await run('sync', '--json');
    const message = expect.stringMatching(/^database: .*can't be used: .*ECONNREFUSED/);
    expect(json()).toEqual([expect.objectContaining({ feed: 'acme', pull: null, status: 'failed', message })]);
    expect(status).toBe(1);
  });

  it('if its pull is aborted', async () => {
    await open();
    await mirror.query('alter table record_problem rename to elsewhere');
    const { status, json } = await run('sync', '--json');
    const message = expect.stringContaining('record_problem');
    expect(json()).toEqual([expect.objectContaining({ feed: 'acme', pull: 1, status: 'failed', message })]);
    expect(status).toBe(1);
  });
});

describe('prints commands that work as typed', () => {
  it('for held and waiting changes', async () => {
    await open();
    await run('sync');
    await mirror.writeFeed(feedXml([]));
    const { out, status } = await run('sync');
    expect(status).toBe(2);
    expect(out).toContain(`review approve acme --count 4 --config ${mirror.configPath}`);
    expect(out).toContain(`4 entries wait for review: node`);
    expect(out).toContain(`review list acme --config ${mirror.configPath}`);
  });

  it('for a pause, whose cause is stored without the path', { tags: 'slow' }, async () => {
    await open({ site: { canary: '{ requests: 2, percent: 10 }', limits: '{ concurrency: 1, timeout_seconds: 5 }' } });
    // The feed is declared new, which avoids a search before the first create.
    await mirror.app();
    await mirror.sandbox.setFaults([{ name: '403' }]);
    const { out, status } = await run('sync');
    expect(status).toBe(1);
    expect(out).toContain(`review list --config ${mirror.configPath}; once that is fixed`);
    expect(out).toContain(`resume board --config ${mirror.configPath}\n`);
    const [line] = (await run('sync', '--json')).json<{ message: string }>();
    expect(line?.message).toContain(`resume board --config ${mirror.configPath}`);
    expect((await run('status')).out).toContain(`for the reasons run: node`);
    const [state] = await mirror.query<{ pause_cause: string }>('select pause_cause from site_state');
    expect(state?.pause_cause).toEqual({
      text: expect.stringMatching(
        /^\d+ of the first \d+ requests of pull 1 of feed acme failed, above the limit of 10 %$/,
      ),
      next: [{ words: 'for the reasons run', action: { kind: 'list_entries' } }],
    });
    const notes = JSON.stringify(await mirror.query('select shortfalls, notes from pull'));
    expect(notes).not.toContain(mirror.folder);
    expect(notes).not.toMatch(/jobmirror|--config/);
  });

  it('for a feed that is not proven complete', { tags: 'slow' }, async () => {
    await open();
    await mirror.writeFeed(feedXml([posting('p1'), posting(' ')]));
    const { out, status } = await run('sync');
    expect(status).toBe(1);
    expect(out).toContain(`review list --config ${mirror.configPath}\n`);
    expect(out).toContain(', 1 unreadable; 1 request in');
    expect((await run('status')).out).toMatch(/1 record could not be read .*review list --config/);
    expect((await run('why', 'acme', 'p1')).out).toMatch(/1 record could not be read .*review list --config/);
  });
});

it('a create in doubt is shown as unknown', { tags: 'slow' }, async () => {
  await open({ site: { list_path: undefined } });
  await mirror.writeFeed(feedXml([posting('a')]));
  await mirror.sandbox.setFaults([{ name: '500', made: true, on: ['create'], count: 1 }]);
  await run('sync');
  const [entry] = (await run('review', 'list', '--json')).json();
  const { out } = await run('review', 'show', String(entry?.id));
  expect(out).toContain('it is not known whether the site has a job for it');
  expect(out).not.toContain('has no job');
  expect((await run('why', 'acme', 'a')).out).toContain('Whether posting a of feed acme is on the site is not known.');
});
