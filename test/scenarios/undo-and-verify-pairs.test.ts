// Undo and verify together with what people decided before: a job that no pull has made stays, and a policy is not promised away.
import { afterEach, expect, it, vi } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { jobOf, makeJob } from '../support/hand-made-jobs.ts';
import { feedXml, posting, postings, type TestPosting } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let mirror: Mirror;
afterEach(() => mirror?.close());

const syncOf = async (list: readonly TestPosting[]) => {
  await mirror.writeFeed(feedXml(list));
  return mirror.sync();
};
const run = async (...args: readonly string[]) => {
  await mirror.stopEngine();
  return runProgram(mirror, ...args);
};
const titles = async () => (await mirror.sandbox.inspect.jobs()).map(({ id, fields }) => [id, fields.title]);

it('an undo sets back a found job that a person adopted, and does not delete it', async () => {
  mirror = await openMirror({ searched: true });
  const id = await makeJob(mirror, { ...jobOf(posting('p1')), title: 'By hand' });
  const first = await syncOf(postings(3));
  expect(first).toMatchObject({ created: 2, in_doubt: 1 });
  const [entry] = (await run('review', 'list', '--json')).json();
  expect((await run('review', 'settle', String(entry?.id), '--exists', id)).status).toBe(0);
  expect((await mirror.siteJobs()).get('p1')).toMatchObject({ title: 'Nurse p1' });
  expect((await run('undo', String(first.pull), '--yes')).status).toBe(0);
  expect(await titles()).toEqual([[id, 'By hand']]);
});

it('verify does not promise to set again what the policy leaves as it is', async () => {
  mirror = await openMirror({ feed: { policy: 'create_only' } });
  await syncOf(postings(3));
  const [job] = await mirror.sandbox.inspect.jobs();
  await mirror.sandbox.inspect.removeJob(job?.id ?? '');
  const verified = await run('verify', 'acme', '--repair');
  expect(verified.status).toBe(2);
  expect(verified.errors).toContain('acme: policy create_only changes no job: what differs is not set again');
  expect(verified.out).not.toContain('marked');
  // The next run finds it again.
  expect((await run('verify', 'acme', '--json')).json()).toMatchObject([{ finding: 'gone' }, { gone: 1, waiting: 0 }]);
});
