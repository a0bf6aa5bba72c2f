// Undo and verify together with what people decided before: a job that no pull has made stays, and a policy is not promised away.
// @module-tag slow
import { afterEach, describe, expect, it } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { jobOf, makeJob } from '../support/hand-made-jobs.ts';
import { posting, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
afterEach(() => mirror?.close());

const run = async (...args: readonly string[]) => {
  await mirror.stopEngine();
  return runProgram(mirror, ...args);
};
const titles = async () => (await mirror.sandbox.inspect.jobs()).map(({ id, fields }) => [id, fields.title]);

it('an undo sets back a found job that a person adopted, and does not delete it', async () => {
  mirror = await openMirror({ searched: true });
  const id = await makeJob(mirror, { ...jobOf(posting('p1')), title: 'By hand' });
  const first = await mirror.syncOf(postings(3));
  expect(first).toMatchObject({ created: 2, in_doubt: 1 });
  const [entry] = (await run('review', 'list', '--json')).json();
  expect((await run('review', 'settle', String(entry?.id), '--exists', id)).status).toBe(0);
  expect((await mirror.siteJobs()).get('p1')).toMatchObject({ title: 'Nurse p1' });
  expect((await run('undo', String(first.pull), '--yes')).status).toBe(0);
  expect(await titles()).toEqual([[id, 'By hand']]);
});

it('verify does not promise to set again what the policy leaves as it is', async () => {
  mirror = await openMirror({ feed: { policy: 'create_only' } });
  await mirror.syncOf(postings(3));
  const [job] = await mirror.sandbox.inspect.jobs();
  await mirror.sandbox.inspect.removeJob(job?.id ?? '');
  const verified = await run('verify', 'acme', '--repair');
  expect(verified.status).toBe(2);
  expect(verified.errors).toContain('acme: policy create_only changes no job: what differs is not set again');
  expect(verified.out).not.toContain('marked');
  // The next run finds it again.
  expect((await run('verify', 'acme', '--json')).json()).toMatchObject([{ finding: 'gone' }, { gone: 1, waiting: 0 }]);
});

describe('a job that a person made, and named for a create in doubt', () => {
  /** The site has made no job, as far as it says; somebody then makes one by hand. Returns the pull and the job. */
  async function openDoubtful() {
    mirror = await openMirror({ site: { list_path: undefined } });
    await mirror.sandbox.setFaults([{ name: '500', made: false, on: ['create'], count: 1 }]);
    const first = await mirror.syncOf([posting('p1')]);
    expect(first).toMatchObject({ in_doubt: 1 });
    const id = await makeJob(mirror, { ...jobOf(posting('p1')), 'category-name': 'By hand' });
    const [entry] = (await run('review', 'list', '--json')).json();
    const nameJob = () => run('review', 'settle', String(entry?.id), '--exists', id);
    return { pull: String(first.pull), id, nameJob };
  }

  it('is not deleted by an undo of the pull, which names it', async () => {
    const { pull, id, nameJob } = await openDoubtful();
    expect((await nameJob()).status).toBe(0);
    // The job got what the feed has, so the undo sets that back.
    expect((await run('undo', pull, '--yes')).status).toBe(0);
    const [job] = await mirror.sandbox.inspect.jobs();
    expect(job).toMatchObject({ id, fields: { 'category-name': 'By hand' } });
  });

  it('is not deleted either if the pull was undone before', async () => {
    const { pull, id, nameJob } = await openDoubtful();
    await run('undo', pull, '--yes');
    expect((await nameJob()).out).toContain('held');
    expect(await titles()).toEqual([[id, 'Nurse p1']]);
    expect((await run('review', 'approve', 'acme')).status).toBe(0);
    expect(await titles()).toEqual([]);
  });
});

it('an undo leaves out a job that was named for a create in doubt, if the pull sent nothing else for it', async () => {
  mirror = await openMirror({ site: { list_path: undefined } });
  await mirror.sandbox.setFaults([{ name: '500', made: true, on: ['create'], count: 1 }]);
  const { pull } = await mirror.syncOf([posting('p1')]);
  const [job] = await mirror.sandbox.inspect.jobs();
  const [entry] = (await run('review', 'list', '--json')).json();
  expect((await run('review', 'settle', String(entry?.id), '--exists', job?.id ?? '')).status).toBe(0);
  const undone = await run('undo', String(pull), '--json');
  expect(undone.json()).toMatchObject([{ key: 'p1', kind: 'left_out', reason: expect.stringContaining('in doubt') }]);
});

it('recover does not mark jobs that the policy never sets', async () => {
  mirror = await openMirror({ feed: { policy: 'create_only' }, searched: true });
  await mirror.syncOf(postings(3));
  const [job] = await mirror.sandbox.inspect.jobs();
  await mirror.sandbox.inspect.removeJob(job?.id ?? '');
  const recovered = await run('recover', 'acme', '--yes');
  expect(recovered).toMatchObject({ status: 0 });
  expect(recovered.out).toContain('policy create_only changes no job: 1 job that is gone or differs stays so');
  expect(await mirror.query('select from uncertain_write')).toEqual([]);
});
