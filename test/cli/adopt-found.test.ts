import { afterEach, expect, it } from 'vitest';
import { changeJob, makeJob, removeJob } from '../support/hand-made-jobs.ts';
import { posting, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { runProgram } from './run-program.ts';

let mirror: Mirror;
afterEach(() => mirror?.close());

const run = (...args: readonly string[]) => runProgram(mirror, 'review', ...args);

const make = (number: string) => makeJob(mirror, { title: 'Made earlier', number, 'location-state': 'Ohio' });

/** Six postings with jobs on the site; three of them need a decision. */
async function openFound(): Promise<void> {
  mirror = await openMirror({ searched: true });
  for (const number of ['p1', 'p2', 'p3', 'p4', 'p4', 'P-5', 'p7']) await make(number);
  expect(await mirror.syncOf([...postings(5), posting('p7')])).toMatchObject({ in_doubt: 6, created: 0 });
  await mirror.stopEngine();
  mirror.sandbox.requests.clear();
}

it('asks first, adopts the certain ones, and lists the rest', async () => {
  await openFound();
  const refused = await run('settle', 'acme', '--found');
  expect(refused).toMatchObject({ status: 1, out: '' });
  expect(refused.errors).toContain('This adopts 4 jobs on the site for feed acme');
  expect(refused.errors).toContain('2 found jobs are left: decide one by one');
  expect(refused.errors).toContain('review settle acme --found --yes');
  expect(mirror.sandbox.requests.recent()).toEqual([]);

  expect((await run('list')).out).toContain('6 jobs found on the site for feed acme; to adopt those that are certain:');
  const before = await mirror.sandbox.inspect.jobs();
  const done = await run('settle', 'acme', '--found', '--yes', '--json');
  expect(done).toMatchObject({ status: 2, errors: '' });
  expect(done.json()).toEqual([
    expect.objectContaining({ action: 'settle', feed: 'acme', done: 4, now: { done: 4 } }),
    expect.objectContaining({ key: 'p4', result: 'left', message: '2 jobs on the site show this reference' }),
    expect.objectContaining({
      key: 'p5',
      result: 'left',
      message: expect.stringContaining('shows the reference "P-5"'),
    }),
  ]);
  // No job was created, and the adopted ones match the feed.
  expect(mirror.sandbox.requests.recent().filter(({ method }) => method === 'POST')).toEqual([]);
  const jobs = await mirror.siteJobs();
  for (const key of ['p1', 'p2', 'p3', 'p7']) expect(jobs.get(key)?.title).toBe(`Nurse ${key}`);
  expect(await mirror.sandbox.inspect.count()).toBe(before.length);

  const again = await run('settle', 'acme', '--found');
  expect(again).toMatchObject({ status: 2 });
  expect(again.out).toContain('acme: no job adopted; 2 found jobs left: decide one by one');
  expect(await mirror.sync()).toMatchObject({ created: 0, updated: 0, in_doubt: 2 });
});

it('waits for no site in a terminal: what was not reached is continued once the site can be asked', async () => {
  await openFound();
  await mirror.sandbox.setFaults([{ name: '401', on: ['show'] }]);
  const refused = await run('settle', 'acme', '--found', '--yes', '--json');
  expect(refused.status).toBe(1);
  expect(refused.errors).toContain('bulk action 1 (adopt) is not done: 0 of 4 entries; The site did not show job');
  expect(refused.errors).toMatch(/To continue: .*review continue 1/);
  expect(refused.json()).toEqual([
    expect.objectContaining({ feed: 'acme', done: 0, message: 'no job adopted; 2 found jobs left: decide one by one' }),
    ...['p4', 'p5'].map((key) => expect.objectContaining({ key, result: 'left' })),
  ]);
  // The token is not sent again.
  mirror.sandbox.requests.clear();
  expect((await run('continue', '1')).errors).toContain('does not accept the token');
  expect(mirror.sandbox.requests.recent()).toEqual([]);
  expect((await run('actions')).out).toMatch(/1 waits: site board is paused/);
  await mirror.sandbox.setFaults([]);
  await runProgram(mirror, 'resume', 'board');
  const done = await run('continue', '1', '--json');
  expect(done.json()).toEqual([
    expect.objectContaining({ action: 'adopt', feed: 'acme', done: 4, message: '4 adopted', now: { done: 4 } }),
    expect.objectContaining({ bulk: 1, action: 'adopt', state: 'done', done: 4, left_alone: 0, waits_for: null }),
  ]);
  expect(done.status).toBe(0);
});

it('leaves a job whose content has changed since, and one that is gone', { tags: 'slow' }, async () => {
  await openFound();
  const [first, second] = await mirror.sandbox.inspect.jobs();
  await changeJob(mirror, first?.id ?? '', { number: 'of-another' });
  await removeJob(mirror, second?.id ?? '');
  const done = await run('settle', 'acme', '--found', '--yes', '--json');
  expect(done.json()).toEqual([
    expect.objectContaining({ feed: 'acme', done: 2 }),
    ...[['p4'], ['p5'], ['p1'], ['p2']].map(([key]) => expect.objectContaining({ key, result: 'left' })),
  ]);
});
