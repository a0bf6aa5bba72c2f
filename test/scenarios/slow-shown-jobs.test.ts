// Sites that need long to show a job: updates that read the job first are sent all the same, each once.
import { afterEach, expect, it } from 'vitest';
import { siteName } from '../../src/posting/identifiers.ts';
import { recoverAbandoned } from '../../src/store/change/restored-database.ts';
import { posting } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
afterEach(() => mirror?.close());

/** Longer than a request may wait after its intent, and shorter than the timeout. */
const SHOWN_AFTER_MS = 5_200;

/** Begins to mirror a changed posting into a site that clears what an update omits, and needs long to show the job. */
async function beginUpdate(prepare: (open: Mirror) => Promise<unknown> = async () => undefined) {
  mirror = await openMirror({
    feed: { create_only_fields: '[description]' },
    site: {
      omitted_fields: 'clear',
      limits: '{ requests_per_second: 5000, concurrency: 8, timeout_seconds: 15 }',
      doubts: '{ resolve_after_seconds: 21 }',
    },
    sandbox: { omittedFields: 'clear' },
  });
  expect(await mirror.syncOf([posting('a')])).toMatchObject({ created: 1 });
  await mirror.sandbox.setFaults([{ name: 'latency', ms: SHOWN_AFTER_MS, on: ['show'] }]);
  mirror.sandbox.requests.clear();
  await prepare(mirror);
  return mirror.syncOf([posting('a', { title: 'Changed' })]);
}
const methods = () => mirror.sandbox.requests.recent().map(({ method }) => method);

it('an update is sent, and the site does not count as unreachable', async () => {
  expect(await beginUpdate()).toMatchObject({ status: 'mirrored', updated: 1 });
  expect(methods()).toEqual(['GET', 'PUT']);
  expect((await mirror.siteJobs()).get('a')).toMatchObject({ title: 'Changed' });
});

it('an update that was taken from its worker meanwhile is not sent by it', async () => {
  const syncing = beginUpdate();
  await expect.poll(async () => (await sending())?.length).toBe(1);
  const { db } = await mirror.app();
  const limits = { deadlineMs: 0, mayLandMs: 0, mostTries: 10 };
  expect(await recoverAbandoned(db, siteName('board'), limits)).toBe(1);
  expect(await syncing).toMatchObject({ status: 'mirrored', updated: 1 });
  expect(methods().filter((method) => method === 'PUT')).toHaveLength(1);
});

it('an update whose job is shown twice has its time anew after each', async () => {
  const starts = new Set<string>();
  let watch: NodeJS.Timeout | undefined;
  const synced = await beginUpdate(async (open) => {
    const { db } = await open.app();
    // As if the site had given the ID of an expired job to another posting.
    await db.query(
      `insert into ended_claim (site, site_job_id, feed, key) values ('board', 'expired', 'acme', 'other')`,
    );
    watch = setInterval(async () => {
      for (const { at } of (await sending()) ?? []) starts.add(at);
    }, 200);
  }).finally(() => clearInterval(watch));
  expect(synced).toMatchObject({ status: 'mirrored', updated: 1 });
  expect(methods()).toEqual(['GET', 'GET', 'PUT']);
  // The claim, and the two answers; the last of them may be missed.
  expect(starts.size).toBeGreaterThanOrEqual(2);
});

const sending = async () =>
  (await mirror?.app())?.db.query<{ at: string }>(
    `select attempt_started::text as at from change where state = 'sending' and attempt_operation = 'update'`,
  );
