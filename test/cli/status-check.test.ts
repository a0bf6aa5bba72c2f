// `jobmirror status --check`, /healthz and the log of `start`: each reports failures with their reasons.
// @module-tag slow
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';
import { type RunningProgram, startProgram } from './program.ts';
import { type ProgramResult, runProgram } from './run-program.ts';

// Each command runs in a process of its own.

let mirror: Mirror;
let running: RunningProgram | undefined;
const run = (...args: readonly string[]): Promise<ProgramResult> => runProgram(mirror, ...args);
afterEach(async () => {
  running?.process.kill('SIGTERM');
  await running?.ended;
  running = undefined;
  await mirror.close();
});

async function open(options: MirrorOptions = {}): Promise<void> {
  mirror = await openMirror(options);
  await mirror.writeFeed(feedXml(postings(3)));
}

const conditions = async () => {
  const { status, json } = await run('status', '--check', '--json');
  const check = json<{ kind: string; status: string; failing: { condition: string }[]; review: unknown[] }>().at(-1);
  return { status, check: check?.status, failing: check?.failing.map(({ condition }) => condition) };
};

it('the exit status of status --check distinguishes failures, review entries, and all well', async () => {
  await open({ feed: { schedule: '"0 3 * * *"' } });
  expect(await conditions()).toEqual({ status: 1, check: 'failing', failing: ['stale'] });
  await run('sync');
  expect(await conditions()).toEqual({ status: 0, check: 'well', failing: [] });
  await mirror.writeFeed(feedXml([...postings(3), posting('odd', { state: 'Jalisco' })]));
  await run('sync');
  expect(await conditions()).toEqual({ status: 2, check: 'review', failing: [] });
  // Without --check the exit status stays 0, and no further object is printed.
  const plain = await run('status', '--json');
  expect([plain.status, plain.json().map(({ kind }) => kind)]).toEqual([0, ['site', 'feed']]);
  const [, feed] = plain.json();
  expect(feed).toMatchObject({
    last_run: expect.stringMatching(/Z$/),
    last_complete: expect.stringMatching(/Z$/),
    next_run: expect.stringMatching(/T03:00:00.000Z$/),
    failing: [],
  });
  expect((await run('status')).out).toMatch(
    /LAST PULL +LAST COMPLETE +NEXT RUN *\n.*03:00:00.*, but no process runs it\n/,
  );
  await run('pause', 'acme', '--pulls');
  expect((await run('status')).out).toMatch(/ none until it is resumed\n/);
  await run('resume', 'acme');

  // Back-date: no test could wait that long.
  const { db } = await mirror.app();
  await db.query(
    `update pull set started_at = started_at - interval '4 days', committed_at = committed_at - interval '4 days'`,
  );
  expect(await conditions()).toEqual({ status: 1, check: 'failing', failing: ['stale'] });
  await mirror.writeFeed('<html>');
  for (const _ of [1, 2, 3]) await mirror.sync();
  await mirror.stopEngine();
  expect(await conditions()).toEqual({ status: 1, check: 'failing', failing: ['pulls_failing', 'stale'] });
  expect((await run('status')).out).toMatch(/^FAILING: feed acme: its last 3 pulls failed: \S/m);
});

it('a paused site, a broken feed and a removed feed with unsent changes are failures', async () => {
  await open();
  await mirror.sandbox.setFaults([{ name: '401' }]);
  await run('sync');
  expect((await conditions()).failing).toEqual(['paused']);
  await mirror.configure('  acme:', '  globex:\n    colour: blue');
  expect((await conditions()).failing?.sort()).toEqual(['configuration', 'left', 'paused']);
  expect((await run('status')).out).toMatch(/^FAILING: feed globex: its configuration is wrong: .*colour/m);
});

/** The health URL that `start` logs. */
async function startIt(): Promise<string> {
  await appendFile(mirror.configPath, 'listen: { port: 0 }\n');
  const started = startProgram(['start', '--config', mirror.configPath], { cwd: mirror.folder, env: mirror.env });
  running = started;
  const found = await vi.waitFor(
    () => {
      const match = /"health":"(http:[^"]+)"/.exec(started.errors() + started.out());
      if (match === null) throw new Error(started.errors());
      return match;
    },
    { timeout: 60_000 },
  );
  return found[1] ?? '';
}

async function health(url: string) {
  const response = await fetch(url);
  return { status: response.status, body: (await response.json()) as { ok: boolean; failing: object[] } };
}

it('start at once pulls feeds that are overdue, but no others, and logs the next runs', async () => {
  await open({ feed: { schedule: '"0 3 1 1 *"' } });
  await mirror.sync();
  await mirror.stopEngine();
  // No run was missed: it waits for the next one, and logs its time.
  await mirror.writeFeed(feedXml(postings(4)));
  const text = await readFile(mirror.configPath, 'utf8');
  await startIt();
  expect(running?.errors()).toMatch(/feed acme is pulled next at \d{4}-01-01 03:00:00/);
  await vi.waitFor(async () => expect((await run('status')).out).toMatch(/ \d{4}-01-01 03:00:00\S*( UTC)?\n/), 10_000);
  running?.process.kill('SIGTERM');
  await running?.ended;
  expect(await mirror.sandbox.inspect.count()).toBe(3);

  await mirror.query(`update pull set started_at = started_at - interval '370 days'`);
  await writeFile(mirror.configPath, text);
  await startIt();
  await vi.waitFor(async () => expect(await mirror.sandbox.inspect.count()).toBe(4), { timeout: 60_000 });
  expect(running?.errors()).toMatch(/feed acme is pulled now: its last run was at /);
});

it('start at once pulls feeds that were never pulled; /healthz answers 503 with the reasons for a failure, /readyz reports whether the process works', async () => {
  await open({ feed: { schedule: '"0 3 1 1 *"' } });
  const url = await startIt();
  await vi.waitFor(async () => expect(await mirror.sandbox.inspect.count()).toBe(3), { timeout: 60_000 });
  expect(running?.errors()).toContain('feed acme is pulled now: it was never pulled');
  // On a loaded machine, a check may take longer than it may.
  const healthy = () => expect.poll(() => health(`${url}/healthz`));
  await healthy().toMatchObject({ status: 200, body: { ok: true, workers: 1, paused: [], failing: [] } });
  await mirror.query(`update site_state set paused_since = now(), pause_cause = '"words of the site"'`);
  const asPaused = {
    status: 503,
    body: { ok: false, workers: 1, paused: ['board'], failing: [{ kind: 'paused', site: 'board' }] },
  };
  await healthy().toMatchObject(asPaused);
  expect(JSON.stringify(await health(`${url}/healthz`))).not.toContain('words of the site');
  await expect.poll(() => health(`${url}/readyz`)).toMatchObject({ status: 200, body: { ok: true } });

  // A refused token is reported as a pause, here and by status --check.
  await mirror.query('update site_state set paused_since = null, pause_cause = null');
  await healthy().toMatchObject({ status: 200 });
  await mirror.sandbox.setFaults([{ name: '401' }]);
  await mirror.writeFeed(feedXml(postings(4)));
  await run('sync');
  await vi.waitFor(async () => expect(await health(`${url}/healthz`)).toMatchObject(asPaused), { timeout: 60_000 });
  expect(await conditions()).toMatchObject({ status: 1, failing: ['paused'] });
  // With the new token, status reports the process that still uses the old one.
  Object.assign(mirror.env, { BOARD_TOKEN: 'another-token-of-the-same-user' });
  const checked = await run('status', '--check', '--json');
  expect(checked.status).toBe(1);
  expect(checked.json().at(-1)).toMatchObject({
    failing: [
      { condition: 'paused', detail: expect.stringMatching(/restart with the new token: start \(process \d+/) },
    ],
  });
});
