// A feed that is configured for another site than the one that its entries are about: it is not pulled, and nothing is sent for them.
import { afterEach, expect, it } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { textOf } from '../../src/plan/message.ts';
import { postingKey, siteName } from '../../src/posting/identifiers.ts';
import { actOnEntries } from '../../src/review/act-on-entries.ts';
import { runBulk } from '../../src/review/bulk/run-bulk.ts';
import { startBulk } from '../../src/review/bulk/start-bulk.ts';
import { editEntry, editPosting } from '../../src/review/edit-posting.ts';
import { sitesOfFeeds } from '../../src/review/sites-of-feeds.ts';
import { skippedOfBulk } from '../../src/store/review/bulk-actions.ts';
import { posting, postings } from '../support/indeed-feed.ts';
import { acme, acting, openStage, type Stage, said } from './stage.ts';

let stage: Stage;
afterEach(() => stage.close());

const MOVED = 'it is of site board, and the feed is configured for site other now, so nothing is sent for it';
const edits = { title: 'Chef' };

function moved(): Config {
  const { config } = stage.app;
  const feed = config.feeds.get(acme);
  if (feed === undefined) throw new Error('no feed');
  return { ...config, feeds: new Map([[acme, { ...feed, siteName: siteName('other') }]]) };
}

it('its entries are not edited', async () => {
  stage = await openStage();
  const { db } = stage.app;
  await stage.pull([posting('p1'), posting('p2')]);
  await stage.fail('p1', 'rejected');
  const config = moved();
  const byEntry = await editEntry(db, config, await stage.entry('p1'), edits, acting);
  expect(byEntry.kind === 'refused' && said(byEntry.message)).toBe(MOVED);
  // It waits to be sent.
  const byKey = await editPosting(db, config, { feed: acme, key: postingKey('p2') }, edits, acting);
  expect(byKey.kind === 'refused' && said(byKey.message)).toBe(MOVED);
  const start = await startBulk(db, { action: 'edit', ...acting, detail: { query: {}, edit: { set: edits } } });
  if (start.kind === 'refused') throw new Error(textOf(start.message));
  await runBulk(db, config, start.bulk.id, { signal: new AbortController().signal });
  expect(await skippedOfBulk(db, start.bulk.id)).toEqual([{ message: MOVED, count: 1 }]);
  expect(await stage.change('p1')).toMatchObject({ state: 'rejected' });
});

it('its entries are not said to be sent again, nor its held deletes to be sent', async () => {
  stage = await openStage();
  const { db } = stage.app;
  await stage.pull(postings(3));
  await stage.acceptAll();
  await stage.pull([posting('p1'), posting('bad')], { percent: 1, count: 0 });
  await stage.fail('bad', 'failed');
  const config = moved();
  const options = { ...acting, sites: sitesOfFeeds(config) };
  const message =
    'feed acme is configured for site other now, and its entries are of site board, so nothing is sent for them. Nothing was changed';
  for (const [action, id] of [
    ['retry', await stage.entry('bad')],
    ['approve', await stage.entry('p2')],
  ] as const) {
    for (const selection of [
      { ids: [id], feeds: [] },
      { ids: [], feeds: [acme] },
    ])
      expect(await actOnEntries(db, action, selection, options)).toEqual({ kind: 'refused', message });
    const start = await startBulk(db, { action, ...acting, detail: { query: {} } });
    if (start.kind === 'refused') throw new Error(textOf(start.message));
    await runBulk(db, config, start.bulk.id, { signal: new AbortController().signal });
    expect((await skippedOfBulk(db, start.bulk.id)).map((each) => each.message)).toEqual([MOVED]);
  }
  expect(await stage.change('bad')).toMatchObject({ state: 'failed' });
  expect(await stage.change('p2')).toMatchObject({ state: 'held' });
  // What sends nothing is done.
  expect(await actOnEntries(db, 'discard', { ids: [await stage.entry('p2')], feeds: [] }, options)).toMatchObject({
    acted: [{ kind: 'held' }],
  });
});
