// Edits of many entries and pulls of their feeds share the feeds' locks: neither keeps the other out for long.
// @module-tag slow
import { beforeEach, expect, it } from 'vitest';
import { pullFeed } from '../../jobs/pull-feed.ts';
import type { Config } from '../../src/config/config.ts';
import { textOf } from '../../src/plan/message.ts';
import { feedName } from '../../src/posting/identifiers.ts';
import { type BulkOptions, runBulk } from '../../src/review/bulk/run-bulk.ts';
import { startBulk } from '../../src/review/bulk/start-bulk.ts';
import { feedSetups } from '../../src/runtime/feed-setups.ts';
import { lockFeed } from '../../src/store/locks/feed-locks.ts';
import { findBulk, setBulkState } from '../../src/store/review/bulk-actions.ts';
import { holdPullLock } from '../support/hold-pull-lock.ts';
import { feedXml, posting } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';
import { acme, openStage } from './stage.ts';

const beta = feedName('beta');
const goOn = new AbortController().signal;

let config: Config;
const stage = openedForEach(() => openStage());
beforeEach(async () => {
  const feed = stage.app.config.feeds.get(acme);
  if (feed === undefined) throw new Error('no feed');
  config = { ...stage.app.config, feeds: new Map([...stage.app.config.feeds, [beta, { ...feed, name: beta }]]) };
});

/** Postings that are rejected, in both feeds. */
async function reject(count: number): Promise<void> {
  const odd = Array.from({ length: count }, (_, at) => posting(`odd${at}`, { state: 'Jalisco' }));
  await stage.mirror.writeFeed(feedXml(odd));
  const { db, log } = stage.app;
  for (const setup of feedSetups(config, ['acme', 'beta']))
    expect((await pullFeed(setup, { db, log, signal: goOn })).kind).toBe('committed');
}

async function startEdit(feed?: typeof acme): Promise<number> {
  const detail = { query: { feed }, edit: { set: { 'location-state': 'Texas' } } };
  const started = await startBulk(stage.app.db, config, { action: 'edit', actor: 'ann', detail });
  if (started.kind === 'refused') throw new Error(textOf(started.message));
  return started.bulk.id;
}
const run = (id: number, options: Partial<BulkOptions> = {}) =>
  runBulk(stage.app.db, config, id, { signal: goOn, batch: 2, ...options });

it('an edit of two feeds goes on in one while the other is pulled', async () => {
  await reject(3);
  const id = await startEdit();
  const release = await holdPullLock(stage.app.db, acme);
  const waited: string[] = [];
  const ended = await run(id, {
    onProgress: ({ done }, waitsFor) => {
      if (waitsFor !== undefined) waited.push(waitsFor);
      // All of beta.
      if (done === 3) void release();
    },
  });
  expect(ended?.bulk).toMatchObject({ state: 'done', done: 6, skipped: 0 });
  expect(new Set(waited)).toEqual(new Set(['acme']));
  expect(new Set(ended?.acted.slice(0, 3).map(({ feed }) => feed))).toEqual(new Set(['beta']));
});

it('a pull starts between two batches of an edit', async () => {
  await reject(12);
  const { db } = stage.app;
  // Each batch takes long, as one of a thousand entries does on a slow disk.
  await db.query(
    `create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(0.3); return new; end $$`,
  );
  await db.query('create trigger slow before insert on audit for each row execute function slow()');
  const id = await startEdit(acme);
  let doneAtPull: number | undefined;
  let pulled: Promise<void> | undefined;
  const pull = async () => {
    // In the middle of the next batch.
    while (!(await isEdited())) await new Promise(setImmediate);
    const lock = await lockFeed(db, acme);
    if (lock !== undefined) doneAtPull = (await findBulk(db, id))?.done;
    await lock?.release();
  };
  const isEdited = async () =>
    (await db.query(`select from pg_stat_activity where query like '%insert into audit%' and wait_event = 'PgSleep'`))
      .length > 0;
  const ended = await run(id, {
    onProgress: () => {
      pulled ??= pull();
    },
  });
  await pulled;
  expect(doneAtPull).toBeLessThan(12);
  expect(ended?.bulk).toMatchObject({ state: 'done', done: 12 });
});

it('an edit that waits for a pull is stopped at once', async () => {
  await reject(1);
  const { db } = stage.app;
  const id = await startEdit(acme);
  const release = await holdPullLock(db, acme);
  let stopped: Promise<boolean> | undefined;
  const startedAt = performance.now();
  const ended = await run(id, {
    onProgress: () => {
      stopped ??= setBulkState(db, id, 'stopped');
    },
  });
  expect(await stopped).toBe(true);
  expect(ended?.bulk).toMatchObject({ state: 'stopped', done: 0 });
  // Not as long as a single edit waits for a pull.
  expect(performance.now() - startedAt).toBeLessThan(8_000);
  await release();
});
