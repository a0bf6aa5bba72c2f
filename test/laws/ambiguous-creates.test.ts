// Creates with ambiguous outcomes, caused by the site or the network: once the faults are over, one job per posting (laws 1 and 2).
import { describe, expect } from 'vitest';
import type { Fault } from '../../src/sandbox/faults/read-fault.ts';
import { countOf, ONLY_IN_ALL, runsEverything } from '../support/extent.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { heal } from './heal.ts';
import { lawTest as it } from './law-test.ts';
import { checkLaws } from './laws.ts';

/** A short timeout, and a check of the list that is late enough to see jobs made after it, even on a slow machine. */
const SHORT_RETRY = {
  limits: '{ requests_per_second: 5000, concurrency: 4, timeout_seconds: 0.8 }',
  doubts: '{ resolve_after_seconds: 2 }',
};

/** Faults that hit three of six creates. */
const FAULTS: readonly Omit<Fault, 'on' | 'after' | 'count'>[] = [
  { name: 'refuse', ms: 300 },
  { name: 'reset-before' },
  { name: 'reset-during' },
  { name: 'reset-after' },
  { name: 'cut' },
  { name: 'timeout' },
  { name: 'timeout-made' },
  { name: 'timeout-late', ms: 100 },
  { name: '500', made: false },
  { name: '500', made: true },
  { name: '502', made: false },
  { name: '502', made: true },
  { name: '504', made: false },
  { name: '504', made: true },
  { name: '503', retryAfter: 'none' },
  { name: '503', retryAfter: 'seconds', seconds: 1 },
  { name: '503', retryAfter: 'date', seconds: 1 },
  { name: '429', retryAfter: 'none' },
  { name: '429', retryAfter: 'seconds', seconds: 1 },
  { name: '429', retryAfter: 'date', seconds: 1 },
  { name: '401' },
  { name: '403' },
  { name: '404' },
  { name: 'malformed' },
  { name: 'empty' },
  { name: 'huge', bytes: 3_000_000 },
  { name: 'slow', ms: 2_000 },
  { name: 'html', status: 200, made: true },
  { name: 'html', status: 502, made: true },
  { name: 'html', status: 200, made: false },
  { name: 'redirect-https' },
  { name: 'redirect-host' },
];

/** What `npm test` runs: each class of outcomes. */
const IN_PART: readonly string[] = [
  'reset-after',
  'timeout',
  'timeout-made',
  '500, made true',
  '503, retryAfter seconds, seconds 1',
  '403',
];

const describeFault = ({ name, ...rest }: Omit<Fault, 'on'>): string =>
  [name, ...Object.entries(rest).map(([key, value]) => `${key} ${value}`)].join(', ');

describe('creates that hit', { concurrent: true }, () => {
  it.for(FAULTS.map((fault) => ({ fault, title: describeFault(fault) })))(
    '$title',
    { timeout: 900_000 },
    async ({ fault, title }, { open, skip }) => {
      skip(!runsEverything && !IN_PART.includes(title), ONLY_IN_ALL);
      const installation = await open({ site: SHORT_RETRY });
      await installation.sandbox.setFaults([{ ...fault, on: ['create'], after: 1, count: 3 }]);
      await installation.writeFeed(feedXml(postings(6)));
      await installation.sync();
      await heal(installation);
      await checkLaws(installation, postings(6));
    },
  );

  it('many faults at random', { timeout: 1_200_000 }, async ({ open }) => {
    const count = countOf(process.env.AMBIGUOUS_CREATES, 150, 10);
    const installation = await open({ site: SHORT_RETRY });
    const on = ['create'] as const;
    await installation.sandbox.setFaults([
      { name: 'reset-during', on, rate: 0.15 },
      { name: 'timeout-made', on, rate: 0.05 },
      { name: 'cut', on, rate: 0.15 },
      { name: '500', made: true, on, rate: 0.15 },
      { name: '502', made: false, on, rate: 0.15 },
      { name: 'malformed', on, rate: 0.15 },
    ]);
    const list = Array.from({ length: count }, (_, at) => posting(`m${at}`));
    await installation.writeFeed(feedXml(list));
    await installation.sync();
    const { app } = installation;
    const [doubtful] = await (await app()).db.query(
      `select count(distinct key) as n from failure where operation = 'create'`,
    );
    expect(doubtful?.n).toBeGreaterThan(count / 4);
    // A sync waits for doubts for a limited time; many doubts take several readings of a long list.
    while ((await heal(installation)).in_doubt > 0);
    await checkLaws(installation, list);
  });
});
