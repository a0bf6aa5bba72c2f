// A discard of few entries needs no confirmation, but covers no entries that a pull adds after they were counted.
import { expect, it } from 'vitest';
import { askAboutSelected, askToDiscard } from '../../src/cli/ask-first.ts';
import { actOnEntries, readNamed } from '../../src/review/act-on-entries.ts';
import { startBulk } from '../../src/review/bulk/start-bulk.ts';
import { acme, acting, openStage } from '../review/stage.ts';
import { posting } from '../support/indeed-feed.ts';
import { openedForAll } from '../support/opened.ts';

// Each test begins with a pull, after which only its own entries are open.
const stage = openedForAll(() => openStage());

const odd = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => posting(`odd${from + at}`, { state: 'Jalisco' }));
const write = (words: readonly string[]) => words.join(' ');
const discarded = async () =>
  (await stage.app.db.query<{ key: string }>(`select key from change where state = 'discarded' order by key`)).map(
    ({ key }) => key,
  );

// What the feed has when entries are counted, and what it has when they are discarded.
const CASES = [
  { name: 'none, then some', before: odd(0, 0), later: odd(0, 5) },
  { name: 'one, then some', before: odd(0, 1), later: odd(0, 5) },
  { name: 'one, then another one', before: odd(0, 1), later: odd(1, 2) },
];

it.each(CASES)('of a selection: $name', async ({ before, later }) => {
  const { db, config } = stage.app;
  await stage.pull([posting('fine'), ...before]);
  const query = { text: 'jalisco' };
  const { seen } = await askAboutSelected(stage.app, 'discard', { q: 'jalisco' }, write);
  await stage.pull([posting('fine'), ...later]);
  const start = () =>
    startBulk(db, config, { action: 'discard', ...acting, detail: { query }, seen: { tokens: [seen] } });
  expect(await start()).toMatchObject({ kind: 'refused', message: expect.stringMatching(/nothing was done\./i) });
});

it.each(CASES)('of a feed: $name', { tags: 'slow' }, async ({ before, later }) => {
  const { db, config } = stage.app;
  await stage.pull([posting('fine'), ...before]);
  const queries = [{ feed: acme }];
  const held = [{ feed: acme, kinds: ['held' as const] }];
  const agreed = await askToDiscard(stage.app, await readNamed(db, 'discard', queries), write);
  await stage.pull([posting('fine'), ...later]);
  const report = await actOnEntries(db, config, 'discard', queries, { ...acting, seen: agreed });
  expect(report).toMatchObject({ kind: 'refused', message: expect.stringContaining('Nothing was done') });
  expect(await discarded()).toEqual([]);
  const again = await askToDiscard(stage.app, await readNamed(db, 'discard', held), write);
  expect(await actOnEntries(db, config, 'discard', held, { ...acting, seen: again })).toMatchObject({
    kind: 'acted',
    acted: [],
  });
});

it('of entries by number covers those that are left', async () => {
  const { db, config } = stage.app;
  await stage.pull([posting('fine'), ...odd(0, 2)]);
  const ids = [await stage.entry('odd0'), await stage.entry('odd1')];
  const queries = [{ ids }];
  const agreed = await askToDiscard(stage.app, await readNamed(db, 'discard', queries), write);
  await stage.pull([posting('fine'), ...odd(1, 3)]);
  expect(await actOnEntries(db, config, 'discard', [{ ids: ids.slice(1) }], { ...acting, seen: agreed })).toMatchObject(
    {
      kind: 'acted',
    },
  );
  expect(await discarded()).toEqual(['odd1']);
});
