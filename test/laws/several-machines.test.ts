// Several worker processes share one site's changes: each change is sent once, within one rate, while workers come and go.
// @module-tag slow
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { limiterFor } from '../../src/queue/site-queue.ts';
import { spread } from '../support/extent.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { heal } from './heal.ts';
import type { Installation } from './installation.ts';
import { lawTest as it, QUEUES } from './law-test.ts';
import { checkLaws } from './laws.ts';

/** Rates with one posting per queue job, and with two; in the longer run, the workers that come later join even on a slow machine. */
const RATES = [
  { rate: 10, seconds: 8 },
  { rate: 100, seconds: 3 },
];
const CASES = QUEUES.flatMap((queue, number) => spread(RATES, number, 2).map((each) => ({ ...queue, ...each })));

/** Waits until the site has received this many requests, and collects the workers that sent them. */
async function watch(installation: Installation, requests: number, workers: Set<number>): Promise<void> {
  for (
    let listChecks = 0;
    installation.sandbox.requests.recent().length < requests && listChecks < 1_200;
    listChecks++
  ) {
    for (const row of await installation.query<{ worker: number }>(
      `select distinct attempt_worker as worker from change where state = 'sending'`,
    ))
      workers.add(row.worker);
    await sleep(100);
  }
}

/** Notes when changes are claimed, by the clock of the database: this process may stand still while requests arrive. */
async function noteClaims(installation: Installation): Promise<() => Promise<readonly number[]>> {
  await installation.query('create table claimed (at timestamptz not null)');
  await installation.query(
    `create function note_claim() returns trigger language plpgsql as $$ begin
       insert into claimed values (new.attempt_started); return null; end $$`,
  );
  await installation.query(
    `create trigger note_claim after update on change for each row
     when (new.attempt_started is distinct from old.attempt_started and new.state = 'sending') execute function note_claim()`,
  );
  return async () => (await installation.query<{ at: Date }>('select at from claimed')).map(({ at }) => at.getTime());
}

describe('several workers', { concurrent: true }, () => {
  it.for(CASES)(
    'at $rate a second, come, go and die in the middle of a run, with the queue in $queue $note',
    { timeout: 900_000 },
    async ({ rate, seconds, queue, available }, { open, skip }) => {
      if (!available) skip();
      const feed = postings(seconds * rate);
      const installation = await open({
        queue,
        // The sandbox shares this process: a late response must not become a doubt, and its list must be read in time.
        site: {
          limits: `{ requests_per_second: ${rate}, concurrency: 4, timeout_seconds: 15 }`,
          doubts: '{ resolve_after_seconds: 16 }',
        },
      });
      await installation.writeFeed(feedXml(feed));
      const claims = await noteClaims(installation);
      const workers = new Set<number>();
      const first = installation.spawn(['work']);
      await first.started;
      const sync = installation.spawn(['sync', '--json']);
      await watch(installation, 0.15 * feed.length, workers);
      const second = installation.spawn(['work']);
      await watch(installation, 0.45 * feed.length, workers);
      first.child.kill('SIGKILL');
      await watch(installation, 0.65 * feed.length, workers);
      await second.started;
      second.child.kill('SIGTERM');
      await watch(installation, feed.length, workers);
      const { status, output } = await sync.ended;
      expect(status, output).toBe(0);
      expect(await second.ended).toMatchObject({ status: 0 });
      // The next change goes to the first worker that asks, so shares vary; but no worker sent everything alone.
      expect(workers.size).toBeGreaterThan(1);

      const times = await claims();
      expect(times.length).toBeGreaterThanOrEqual(feed.length);
      const busiest = Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 1_000).length));
      // Two windows of each worker may be adjacent, and a change is claimed a moment after it was counted.
      expect(busiest).toBeLessThanOrEqual(rate + 4 * (limiterFor(rate)?.max ?? 0));
      await heal(installation);
      await checkLaws(installation, feed);
    },
  );
});
