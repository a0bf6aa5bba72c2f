// `jobmirror review` as a person uses it: lists, shows, acts, sends, and reports the outcome.
import { expect, it } from 'vitest';
import { type feedXml, posting, postings } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForEach } from '../support/opened.ts';
import { type ProgramResult, runProgram } from './run-program.ts';

// Each command runs in a process of its own.

const run = (...args: readonly string[]): Promise<ProgramResult> => runProgram(mirror, ...args);

const mirror = openedForEach(() => openMirror());

/** Mirrors a feed, then stops the test's worker. */
async function sync(feed: Parameters<typeof feedXml>[0]) {
  const report = await mirror.syncOf(feed);
  await mirror.stopEngine();
  return report;
}

async function idOf(key: string): Promise<string> {
  const entries = (await run('review', 'list', '--json')).json<{ id: number; key: string }>();
  return String(entries.find((entry) => entry.key === key)?.id);
}

it('an invalid posting is listed, shown, edited, and live at once; an edit that leaves a problem says so', async () => {
  await sync([posting('p1'), posting('odd', { state: 'Jalisco' })]);
  const list = await run('review', 'list');
  expect(list.status).toBe(0);
  expect(list.out).toMatch(/ID +FEED +KEY +KIND +SINCE +AGE +REASON\n *\d+ +acme +odd +rejected .*Jalisco/);
  const [entry] = (await run('review', 'list', '--json')).json();
  expect(entry).toEqual({
    seen: expect.stringMatching(/^[0-9a-f]{10}$/),
    id: expect.any(Number),
    feed: 'acme',
    site: 'board',
    key: 'odd',
    kind: 'rejected',
    operation: 'create',
    since: expect.stringMatching(/Z$/),
    age_seconds: expect.any(Number),
    escalated: false,
    reason: expect.stringContaining('"Jalisco" is not a valid U.S. state'),
  });

  const id = String(entry?.id);
  const shown = await run('review', 'show', id);
  expect(shown.out).toContain(`review edit ${id} --set FIELD=VALUE --config`);
  expect(shown.out).toMatch(/location-state +"Jalisco"/);
  const refused = await run('review', 'edit', id, '--set', 'location-state=Sonora');
  expect([refused.status, refused.errors]).toEqual([1, expect.stringMatching(/"Sonora" is not .*add --anyway/s)]);
  const half = await run('review', 'edit', id, '--set', 'location-state=Sonora', '--anyway', '--json');
  const message = expect.stringContaining('still rejected: "Sonora"');
  expect(half.json()).toEqual([expect.objectContaining({ action: 'edit', key: 'odd', result: 'done', message })]);
  // For review.
  expect(half.status).toBe(2);
  const edited = await run('review', 'edit', id, '--set', 'location-state=Mass.', '--as', 'ann');
  expect(edited.errors).toBe('');
  expect(edited.out.split('\n').slice(0, 2)).toEqual([
    `${id} acme odd: edited, ready to be sent`,
    expect.stringMatching(new RegExp(`^${id} acme odd: done: job \\d+ on site board is up to date$`)),
  ]);
  expect(edited.status).toBe(0);
  expect((await mirror.siteJobs()).get('odd')).toMatchObject({ 'location-state': 'Massachusetts' });
  expect((await run('review', 'list')).out).toBe('Nothing needs a person.\n');
  const why = await run('why', 'acme', 'odd');
  expect(why.out).toContain('Edited: location-state is "Mass." as long as the feed says "Jalisco".');
  expect(why.out).toContain('edit by ann');
});

it('held deletes are grouped with the command that approves them, and approving deletes', async () => {
  await sync(postings(12));
  expect(await sync(postings(2))).toMatchObject({ held: 10 });
  const list = await run('review', 'list');
  expect(list.out).toContain('acme: 10 deletes are held');
  expect(list.out).toContain('10 of 12 live jobs would be deleted: 83.3 %, above the limit of 5 and 20 %');
  expect(list.out).toMatch(/review approve acme --count 10 --config /);
  expect((await run('review', 'list', '--kind', 'held', '--limit', '3')).out).toContain('… and 7 more');

  const one = await run('review', 'discard', await idOf('p3'));
  expect(one.out).toMatch(/^\d+ acme p3: discarded\n$/);
  const refused = await run('review', 'approve', 'acme', '--count', '10');
  expect(refused).toMatchObject({
    status: 1,
    out: '',
    errors: expect.stringContaining('9 entries now, not 10'),
  });
  expect((await mirror.siteJobs()).size).toBe(12);
  const said = async () => (await run('pulls', 'acme', '--json')).json()[0];
  expect(await said()).toMatchObject({
    message: expect.stringMatching(/^deletes are held: /),
  });
  const approved = await run('review', 'approve', 'acme', '--count', '9', '--json');
  expect(approved.json()).toEqual([
    { action: 'approve', feed: 'acme', done: 9, message: '9 approved, ready to be deleted', now: { done: 9 } },
  ]);
  expect(approved.status).toBe(0);
  expect(await said()).toMatchObject({ message: expect.stringMatching(/^deletes were held: /), actions: [] });
  expect([...(await mirror.siteJobs()).keys()].sort()).toEqual(['p1', 'p2', 'p3']);
});

it('retry sends refused changes again; with --no-send, the next sync does', { tags: 'slow' }, async () => {
  await mirror.sandbox.setFaults([{ name: '403', count: 2 }]);
  expect(await sync(postings(2))).toMatchObject({ failed: 2 });
  const [first, second] = [await idOf('p1'), await idOf('p2')];
  const shown = await run('review', 'show', first);
  expect(shown.out).toMatch(/POST http:.*\/jobs\.xml\n(.*\n)*? +response 403/);
  const left = await run('review', 'retry', second, '--no-send');
  expect(left).toMatchObject({ status: 0, out: `${second} acme p2: ready to be sent again\n` });
  expect(await mirror.sandbox.inspect.count()).toBe(0);
  expect((await run('review', 'retry', first)).out).toMatch(/p1: done: job \d+ on site board is up to date/);
  expect([...(await mirror.siteJobs()).keys()].sort()).toEqual(['p1', 'p2']);
  const again = await run('review', 'retry', 'acme');
  expect(again).toMatchObject({ status: 0, out: 'acme: nothing to retry\n' });
});

it('a retry that is refused again has the exit status for review', { tags: 'slow' }, async () => {
  await mirror.sandbox.setFaults([{ name: '403' }]);
  await sync(postings(1));
  const retried = await run('review', 'retry', await idOf('p1'), '--json');
  expect(retried.json()).toEqual([expect.objectContaining({ result: 'done', now: 'failed' })]);
  expect(retried.status).toBe(2);
});
