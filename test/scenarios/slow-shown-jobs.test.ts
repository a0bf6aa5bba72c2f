// Sites that need long to show a job: updates that read the job first are sent all the same, each once.
import { expect } from 'vitest';
import { siteName } from '../../src/posting/identifiers.ts';
import { recoverAbandoned } from '../../src/store/change/restored-database.ts';
import { type Ends, endsTest as it } from '../support/ends-test.ts';
import { posting } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

/** Longer than a request may wait after its intent, and shorter than the timeout. */
const SHOWN_AFTER_MS = 5_200;

/** Begins to mirror a changed posting into a site that clears what an update omits, and needs long to show the job. */
async function beginUpdate(ends: Ends, prepare: (open: Mirror) => Promise<unknown> = async () => undefined) {
  const mirror = await openMirror({
    feed: { create_only_fields: '[description]' },
    site: {
      omitted_fields: 'clear',
      limits: '{ requests_per_second: 5000, concurrency: 8, timeout_seconds: 15 }',
      doubts: '{ resolve_after_seconds: 21 }',
    },
    sandbox: { omittedFields: 'clear' },
  });
  ends.push(() => mirror.close());
  expect(await mirror.syncOf([posting('a')])).toMatchObject({ created: 1 });
  await mirror.sandbox.setFaults([{ name: 'latency', ms: SHOWN_AFTER_MS, on: ['show'] }]);
  mirror.sandbox.requests.clear();
  await prepare(mirror);
  return { mirror, syncing: mirror.syncOf([posting('a', { title: 'Changed' })]) };
}
const methods = (mirror: Mirror) => mirror.sandbox.requests.recent().map(({ method }) => method);

it.concurrent('an update is sent, and the site does not count as unreachable', async ({ ends }) => {
  const { mirror, syncing } = await beginUpdate(ends);
  expect(await syncing).toMatchObject({ status: 'mirrored', updated: 1 });
  expect(methods(mirror)).toEqual(['GET', 'PUT']);
  expect((await mirror.siteJobs()).get('a')).toMatchObject({ title: 'Changed' });
});

it.concurrent('an update that was taken from its worker meanwhile is not sent by it', async ({ ends, expect }) => {
  const { mirror, syncing } = await beginUpdate(ends);
  await expect.poll(async () => (await sending(mirror)).length).toBe(1);
  const { db } = await mirror.app();
  const limits = { deadlineMs: 0, mayLandMs: 0, mostTries: 10 };
  expect(await recoverAbandoned(db, siteName('board'), limits)).toBe(1);
  expect(await syncing).toMatchObject({ status: 'mirrored', updated: 1 });
  expect(methods(mirror).filter((method) => method === 'PUT')).toHaveLength(1);
});

it.concurrent('an update whose job is shown twice has its time anew after each', async ({ ends }) => {
  const starts = new Set<string>();
  let watch: NodeJS.Timeout | undefined;
  const { mirror, syncing } = await beginUpdate(ends, async (open) => {
    const { db } = await open.app();
    // As if the site had given the ID of an expired job to another posting.
    await db.query(
      `insert into ended_claim (site, site_job_id, feed, key) values ('board', 'expired', 'acme', 'other')`,
    );
    watch = setInterval(async () => {
      for (const { at } of await sending(open)) starts.add(at);
    }, 200);
  });
  ends.push(async () => clearInterval(watch));
  expect(await syncing).toMatchObject({ status: 'mirrored', updated: 1 });
  expect(methods(mirror)).toEqual(['GET', 'GET', 'PUT']);
  // The claim, and the two answers; the last of them may be missed.
  expect(starts.size).toBeGreaterThanOrEqual(2);
});

const sending = (mirror: Mirror) =>
  mirror.query<{ at: string }>(
    `select attempt_started::text as at from change where state = 'sending' and attempt_operation = 'update'`,
  );
