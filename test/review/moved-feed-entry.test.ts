// A feed that is configured for another site than the one that its entries are about: it is not pulled, and nothing is sent for them.
import { afterEach, expect, it } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { textOf } from '../../src/plan/message.ts';
import { postingKey, siteName } from '../../src/posting/identifiers.ts';
import { actOnEntries } from '../../src/review/act-on-entries.ts';
import { startBulk } from '../../src/review/bulk/start-bulk.ts';
import { editEntry, editPosting } from '../../src/review/edit-posting.ts';
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
  const start = await startBulk(db, config, { action: 'edit', ...acting, detail: { query: {}, edit: { set: edits } } });
  expect(start.kind === 'refused' && textOf(start.message)).toContain(`acme: 1 rejected: ${MOVED}`);
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
  for (const [action, id] of [
    ['retry', await stage.entry('bad')],
    ['approve', await stage.entry('p2')],
  ] as const) {
    for (const [query, name] of [
      [{ ids: [id] }, ''],
      [{ feed: acme }, `entry ${id} of feed acme: `],
    ] as const) {
      const message = `${name}${MOVED}. Nothing was changed`;
      expect(await actOnEntries(db, config, action, [query], acting)).toEqual({ kind: 'refused', message });
    }
    const start = await startBulk(db, config, { action, ...acting, detail: { query: {} } });
    const n = action === 'retry' ? '1 failed' : '2 held';
    expect(start.kind === 'refused' && textOf(start.message)).toContain(`acme: ${n}: ${MOVED}`);
  }
  expect(await stage.change('bad')).toMatchObject({ state: 'failed' });
  expect(await stage.change('p2')).toMatchObject({ state: 'held' });
  // What sends nothing is done.
  expect(await actOnEntries(db, config, 'discard', [{ ids: [await stage.entry('p2')] }], acting)).toMatchObject({
    acted: [{ kind: 'held' }],
  });
});
