// An action on entries of several feeds that goes on once the configuration has only some of them.
import { beforeEach, expect, it } from 'vitest';
import { pullFeed } from '../../jobs/pull-feed.ts';
import type { Config } from '../../src/config/config.ts';
import { textOf } from '../../src/plan/message.ts';
import { feedName, siteName } from '../../src/posting/identifiers.ts';
import { runBulk } from '../../src/review/bulk/run-bulk.ts';
import { startBulk } from '../../src/review/bulk/start-bulk.ts';
import { startBulkRunner } from '../../src/runtime/bulk-runner.ts';
import { feedSetups } from '../../src/runtime/feed-setups.ts';
import { enterAsWorker } from '../../src/store/locks/processes.ts';
import { findBulk, skippedOfBulk } from '../../src/store/review/bulk-actions.ts';
import { feedXml, posting } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';
import { acme, openStage } from './stage.ts';

const former = feedName('a-former');

let both: Config;
const stage = openedForEach(() => openStage());
beforeEach(async () => {
  const { config, db, log } = stage.app;
  const feed = config.feeds.get(acme);
  if (feed === undefined) throw new Error('no feed');
  both = { ...config, feeds: new Map([...config.feeds, [former, { ...feed, name: former }]]) };
  await stage.mirror.writeFeed(feedXml(['a', 'b'].map((key) => posting(key, { state: 'Jalisco' }))));
  const { signal } = new AbortController();
  for (const setup of feedSetups(both, [acme, former])) await pullFeed(setup, { db, log, signal });
});

const bulk = async (id: number) => await findBulk(stage.app.db, id);
const runnerOf = (config: Config) => startBulkRunner({ ...stage.app, config }, () => undefined);

it('is done for those, and says why the others wait', async () => {
  const { db, config } = stage.app;
  const detail = { query: {}, edit: { set: { 'location-state': 'Texas' } }, unattended: true };
  const start = await startBulk(db, both, { action: 'edit', actor: 'ann', detail });
  if (start.kind === 'refused') throw new Error(textOf(start.message));
  const { id } = start.bulk;
  // Its process ends after the first entry.
  const stopping = new AbortController();
  await runBulk(db, both, id, { signal: stopping.signal, batch: 1, onProgress: () => stopping.abort() });
  expect(await bulk(id)).toMatchObject({ state: 'open', total: 4, done: 1 });
  await db.query(`update bulk_action set touched_at = now() - interval '1 minute'`);
  const runner = runnerOf(config);
  await expect.poll(async () => (await bulk(id))?.done).toBe(3);
  await db.query(`update bulk_action set touched_at = now() - interval '1 minute'`);
  await expect
    .poll(async () => (await bulk(id))?.waitsFor)
    .toBe('feed a-former is no longer configured, so nothing is sent for it');
  expect(await bulk(id)).toMatchObject({ state: 'open', done: 3, skipped: 0 });
  // A person ends the wait.
  runner.begin(id);
  await expect.poll(async () => (await bulk(id))?.state).toBe('done');
  await runner.stop(5_000);
  expect(await skippedOfBulk(db, id)).toEqual([
    { message: 'feed a-former is no longer configured, so nothing is sent for it', count: 1 },
  ]);
});

it('leaves the entries of feeds of another running process to that process', async () => {
  const { db, config } = stage.app;
  const about = { command: 'start', host: 'other', pid: 1, parts: {}, feeds: new Map([[former, siteName('board')]]) };
  const lease = await enterAsWorker(db, about, () => undefined);
  const detail = { query: {}, edit: { set: { 'location-state': 'Texas' } }, unattended: true };
  const start = await startBulk(db, config, { action: 'edit', actor: 'ann', detail });
  if (start.kind === 'refused') throw new Error(textOf(start.message));
  const { id } = start.bulk;
  const runner = runnerOf(config);
  runner.begin(id);
  await expect.poll(async () => (await bulk(id))?.done).toBe(2);
  await runner.stop(5_000);
  expect(await bulk(id)).toMatchObject({ state: 'open', total: 4, skipped: 0 });
  await db.query(`update bulk_action set touched_at = now() - interval '1 minute'`);
  const other = runnerOf({ ...both, feeds: new Map([...both.feeds].filter(([name]) => name === former)) });
  await expect.poll(async () => (await bulk(id))?.state).toBe('done');
  await other.stop(5_000);
  expect(await bulk(id)).toMatchObject({ done: 4, skipped: 0 });
  await lease.leave();
});
