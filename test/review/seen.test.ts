// What was shown of an entry, alone or among others, has one token everywhere, and binds what is decided.
import { beforeEach, expect, it } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { posting } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';
import { serve } from '../web/served.ts';
import { openStage } from './stage.ts';

const stage = openedForEach(() => openStage());
const served = openedForEach(() => serve(stage.mirror));
beforeEach(async () => {
  await stage.pull([posting('a', { state: 'Jalisco' }), posting('b', { title: '' })]);
});

const read = async (path: string) => (await served.api('GET', path)).body;
const act = (body: object) => served.api('POST', 'review/actions', body);
const seenOf = async (key: string): Promise<string> => (await read(`review/${await stage.entry(key)}`)).seen;

it('an entry has the same token alone, in a list, as its posting, as a group and as a selection', async () => {
  const id = await stage.entry('a');
  const seen = await seenOf('a');
  const [listed] = (await read('review?q=jalisco')).items;
  const [group] = (await read('review/groups?q=jalisco')).items;
  const { offers } = await read(`review/groups/${group.group}`);
  const [printed] = (await runProgram(stage.mirror, 'review', 'list', '--text', 'jalisco', '--json')).json();
  expect(seen).toMatch(/^[0-9a-f]{10}$/);
  expect([
    listed.seen,
    printed?.seen,
    (await read(`review/${id}`)).version,
    (await read('feeds/acme/postings/a')).seen,
    (await read(`review/selection?action=discard&group=${group.group}`)).seen,
    offers.find(({ action }: { action: string }) => action === 'discard').seen,
  ]).toEqual(Array(6).fill(seen));
  expect(await seenOf('b')).not.toBe(seen);
});

it('a decision about one or many is bound by one token, or by one of each', async () => {
  const ids = [await stage.entry('a'), await stage.entry('b')];
  const [a, b] = [await seenOf('a'), await seenOf('b')];
  const { seen: both } = await read('review/selection?action=discard');
  await stage.pull([posting('a', { state: 'Sonora' }), posting('b', { title: '' })]);
  const now = await seenOf('a');
  expect(now).not.toBe(a);
  for (const seen of [both, [a, b]]) {
    const { status, body } = await act({ action: 'discard', filter: { ids }, seen });
    expect([status, body.detail]).toEqual([409, expect.stringContaining('has changed since you saw it')]);
  }
  expect((await act({ action: 'discard', filter: { ids }, seen: [a, b] })).body.detail).toContain(
    `entry ${ids[0]} changed`,
  );
  expect((await served.api('POST', `review/${ids[0]}/discard`, { seen: a })).body).toMatchObject({
    seen: now,
    yours: { seen: a },
  });
  expect((await act({ action: 'discard', filter: { ids }, seen: [now, b] })).status).toBe(202);
  const terminal = await runProgram(stage.mirror, 'review', 'discard', String(ids[1]), '--seen', b);
  expect(terminal.status).toBe(0);
});

it('nothing is decided without anything that was seen', async () => {
  for (const action of ['retry', 'discard', 'approve', 'missing']) {
    const { status, body } = await act({ action, filter: { feed: 'acme' } });
    expect([action, status, body.detail]).toEqual([action, 400, expect.stringContaining('is missing')]);
  }
  expect((await act({ action: 'approve', filter: { feed: 'acme' }, expected: 2 })).status).toBe(400);
});
