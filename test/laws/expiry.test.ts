// A process dies at each step of a pull in which postings expire: each job is deleted once, and none is created again.
import { expect } from 'vitest';
import type { Step } from '../../src/telemetry/times.ts';
import { firstOf } from '../support/extent.ts';
import { postings } from '../support/indeed-feed.ts';
import { heal } from './heal.ts';
import { lawTest as it } from './law-test.ts';
import { checkLaws } from './laws.ts';

const ALL = postings(12);
const STAYING = ALL.slice(2);

/** One process after another dies at these steps of the pull, and while jobs are deleted. */
const DEATHS: readonly Step[] = [
  'changes-merged',
  'pull-committed',
  'records-read',
  'intent-committed',
  'answer-received',
  'outcome-committed',
];

it('killed at one step after another: the next process ends what was begun', { timeout: 600_000 }, async ({ open }) => {
  const installation = await open({
    feed: { expire_after_days: '30' },
    site: { limits: '{ requests_per_second: 5000, concurrency: 1, timeout_seconds: 2 }' },
  });
  await installation.syncOf(ALL);
  await installation.query(`update mapping set mapped_at = now() - interval '720 hours' where key in ('p1', 'p2')`);
  await installation.stopEngine();
  for (const step of firstOf(DEATHS, 2)) {
    const { signal, output } = await installation.spawn(['sync'], { FAULT_AT: step }).ended;
    expect({ signal, output }, step).toMatchObject({ signal: 'SIGKILL' });
  }
  await heal(installation);
  await checkLaws(installation, STAYING);
  expect(await installation.sync()).toMatchObject({
    seen: 12,
    unchanged: 10,
    expired: 2,
    gone: 0,
    created: 0,
    requests: 0,
  });
  const later = (await installation.app()).db;
  expect(await later.query('select key from posting_expiry where expired_at is not null order by key')).toEqual([
    { key: 'p1' },
    { key: 'p2' },
  ]);
});
