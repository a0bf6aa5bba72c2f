import { afterEach, expect, it, vi } from 'vitest';
import { feedName } from '../../src/posting/identifiers.ts';
import { VERIFY_LIMITS } from '../../src/review/jobs/verify-feed.ts';
import { startScheduledVerify, type VerifyRuns } from '../../src/runtime/schedule/scheduled-verify.ts';
import { takeVerifyRuns } from '../../src/store/feed/feed-verify.ts';
import { runProgram } from '../cli/run-program.ts';
import { changeJob, jobOf, makeJob } from '../support/hand-made-jobs.ts';
import { posting, postings } from '../support/indeed-feed.ts';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
let runs: VerifyRuns | undefined;
const { portion: usualPortion } = VERIFY_LIMITS;
afterEach(async () => {
  VERIFY_LIMITS.portion = usualPortion;
  await runs?.stop(60_000);
  runs = undefined;
  await mirror?.close();
});

const LOOK_EVERY_MS = 20;
const db = async () => (await mirror.app()).db;
const shows = () => mirror.sandbox.requests.recent().filter(({ method }) => method === 'GET');
const writes = () => mirror.sandbox.requests.recent().filter(({ method }) => method !== 'GET');

async function openMirrored(count: number, options: MirrorOptions): Promise<void> {
  mirror = await openMirror(options);
  expect(await mirror.syncOf(postings(count))).toMatchObject({ created: count });
  mirror.sandbox.requests.clear();
}

async function start(): Promise<void> {
  runs = startScheduledVerify(await mirror.app(), await mirror.engine(), LOOK_EVERY_MS);
}

async function stop(): Promise<void> {
  await runs?.stop(60_000);
  runs = undefined;
}

interface Row {
  readonly due: boolean;
  readonly run_by: number | null;
  readonly after_key: string | null;
  readonly result: Record<string, unknown> | null;
  readonly ended_at: Date | null;
}

async function state(): Promise<Row | undefined> {
  const [row] = await (await db()).query<Row & Record<string, unknown>>(
    `select due_at <= now() as due, run_by, after_key, result, ended_at from feed_verify where feed = 'acme'`,
  );
  return row;
}

/** Lets the next run come due: as if the time of the schedule had come. */
async function makeDue(): Promise<void> {
  await vi.waitFor(async () => expect(await state()).toMatchObject({ due: false }), { timeout: 60_000 });
  await (await db()).query(`update feed_verify set due_at = now() - interval '1 minute'`);
}

const untilEnded = (since: Date | null = null) =>
  vi.waitFor(
    async () => {
      const row = await state();
      expect(row).toMatchObject({ due: false, run_by: null, after_key: null });
      expect(row?.ended_at).not.toEqual(since);
      return row as Row;
    },
    { timeout: 60_000, interval: 50 },
  );

async function change(key: string, fields: Readonly<Record<string, string>>): Promise<void> {
  const [row] = await (await db()).query<{ id: string }>(`select site_job_id as id from mapping where key = '${key}'`);
  await changeJob(mirror, row?.id ?? '', fields);
  mirror.sandbox.requests.clear();
}

it('reports what differs, changes nothing, and is not repeated before it is due again', async () => {
  await openMirrored(3, { feed: { verify: '"0 3 1 1 *"' } });
  await change('p2', { title: 'By hand' });
  await start();
  expect(shows()).toEqual([]);
  await makeDue();
  const { result, ended_at: endedAt } = await untilEnded();
  expect(result).toMatchObject({ jobs: 3, same: 2, changed: 1, gone: 0, foreign: 0, marked: 0, left: 1 });
  expect(writes()).toEqual([]);
  await stop();
  await mirror.stopEngine();
  const status = await runProgram(mirror, 'status');
  expect(status.out).toMatch(/acme: 1 job differs from what was sent, as of .*: .*verify acme/);
  const [feed] = (await runProgram(mirror, 'status', '--json')).json().filter(({ kind }) => kind === 'feed');
  expect(feed?.last_verify).toMatchObject({ changed: 1, left: 1 });
  expect(await mirror.sync()).toMatchObject({ unchanged: 3 });
  // A person repairs it, which `status` knows.
  await mirror.stopEngine();
  await runProgram(mirror, 'verify', 'acme', '--repair');
  expect((await runProgram(mirror, 'status')).out).not.toContain('differs from what was sent');
  expect((await state())?.ended_at).not.toEqual(endedAt);
});

it('has set again what the settings say, field by field, and leaves the rest to a person', async () => {
  await openMirrored(4, {
    feed: { verify: '{ schedule: "0 3 1 1 *", gone: set_again, fields: { title: set_again } }' },
  });
  await change('p1', { title: 'By hand', description: 'By hand' });
  await change('p2', { title: 'By hand' });
  await change('p3', { description: 'By hand' });
  const [{ id }] = (await (await db()).query(`select site_job_id as id from mapping where key = 'p4'`)) as [
    { id: string },
  ];
  expect(await mirror.sandbox.inspect.removeJob(id)).toBe(true);
  await start();
  await makeDue();
  expect((await untilEnded()).result).toMatchObject({ changed: 3, gone: 1, marked: 3, left: 2 });
  await stop();
  await mirror.sync();
  expect(Object.fromEntries([...(await mirror.siteJobs())].sort())).toMatchObject({
    p1: { title: 'Nurse p1', description: 'By hand' },
    p2: { title: 'Nurse p2' },
    p3: { description: 'By hand' },
    p4: { title: 'Nurse p4' },
  });
  const acts = await (await db()).query(`select distinct actor from audit where action like 'set again%'`);
  expect(acts).toEqual([{ actor: 'verify schedule' }]);
});

it('a job that is gone is left to a person if another job shows the reference of its posting', async () => {
  await openMirrored(3, { feed: { verify: '{ schedule: "0 3 1 1 *", gone: set_again }' } });
  const [row] = await (await db()).query<{ id: string }>(`select site_job_id as id from mapping where key = 'p1'`);
  await mirror.sandbox.inspect.removeJob(row?.id ?? '');
  await makeJob(mirror, jobOf(posting('p1')));
  await start();
  await makeDue();
  expect((await untilEnded()).result).toMatchObject({ same: 2, gone: 1, foreign: 1, marked: 0, left: 2 });
});

it('goes on after the jobs that it has compared when it was stopped, in another process', async () => {
  VERIFY_LIMITS.portion = 40;
  await openMirrored(80, {
    site: { list_path: undefined, limits: '{ requests_per_second: 40, concurrency: 8, timeout_seconds: 5 }' },
    feed: { verify: '{ schedule: "0 3 1 1 *", changed: set_again }' },
  });
  await change('p1', { title: 'By hand' });
  // The second portion takes until the stop, however late that is.
  await mirror.sandbox.setFaults([{ name: 'latency', ms: 3_000, on: ['show'], after: 40 }]);
  await start();
  await makeDue();
  await expect.poll(async () => (await state())?.after_key).not.toBeNull();
  await stop();
  await mirror.sandbox.setFaults([]);
  expect(await state()).toMatchObject({ due: true, run_by: null, ended_at: null });
  const asked = shows().length;
  expect(asked).toBeGreaterThanOrEqual(40);
  expect(asked).toBeLessThan(80);
  await mirror.stopEngine();
  await start();
  expect((await untilEnded()).result).toMatchObject({ jobs: 80, same: 79, changed: 1, marked: 1, left: 0 });
  expect(shows().length).toBeLessThan(asked + 50);
});

it('waits while its site is paused; one process at a time has a run, and another one takes it over from a process that ended', async () => {
  await openMirrored(1, { feed: { verify: '{ schedule: "0 3 1 1 *", sample: 1 }' } });
  await start();
  await makeDue();
  await untilEnded();
  await (await db()).query(`update site_state set paused_since = now()`);
  mirror.sandbox.requests.clear();
  // The next claim may come before anything else is read.
  const [row] = await (await db()).query<{ before: string }>(
    `update feed_verify set due_at = now() - interval '1 minute' returning xmin::text as before`,
  );
  const version = async () =>
    (await (await db()).query<{ version: string }>('select xmin::text as version from feed_verify'))[0]?.version;
  // Claimed, and given back.
  await vi.waitFor(
    async () => {
      expect(await version()).not.toBe(row?.before);
      expect(await state()).toMatchObject({ due: true, run_by: null });
    },
    { timeout: 60_000, interval: 20 },
  );
  expect(shows().filter(({ path }) => !path.startsWith('/jobs.xml'))).toEqual([]);

  await stop();
  const { self } = await mirror.engine();
  const take = async (worker: number) => takeVerifyRuns(await db(), worker, [feedName('acme')], 2);
  expect(await take(self.worker)).toHaveLength(1);
  expect(await take(self.worker + 1)).toEqual([]);
  await mirror.stopEngine();
  expect(await take(self.worker + 1)).toHaveLength(1);
});
