// Creates with ambiguous outcomes, caused by the site or the network: once the faults are over, one job per posting (laws 1 and 2).
import { describe, expect } from 'vitest';
import type { SiteName } from '../../src/posting/identifiers.ts';
import type { Fault } from '../../src/sandbox/interface/fault-table.ts';
import { resumeSite } from '../../src/store/site/site-state.ts';
import { byExtent, countOf } from '../support/extent.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { heal } from './heal.ts';
import { lawTest as it } from './law-test.ts';
import { checkLaws } from './laws.ts';

/** A short timeout, and a check of the list that is late enough to see jobs made after it, even on a slow machine. */
const SHORT_RETRY = {
  limits: '{ requests_per_second: 5000, concurrency: 4, timeout_seconds: 0.8 }',
  doubts: '{ resolve_after_seconds: 2 }',
};

type CreateFault = Omit<Fault, 'on' | 'after' | 'count'>;

/** Each class of outcomes, and what stops the site by itself. Each fault hits three of six creates. */
const FAULTS: Readonly<Record<string, readonly CreateFault[]>> = {
  'lost connections': [
    { name: 'reset-after' },
    { name: 'reset-before' },
    { name: 'reset-during' },
    { name: 'refuse', ms: 300 },
    { name: 'cut' },
  ],
  timeouts: [
    { name: 'timeout-made' },
    { name: 'timeout' },
    { name: 'timeout-late', ms: 100 },
    { name: 'slow', ms: 2_000 },
  ],
  'failures of the site': [
    { name: '500', made: true },
    { name: '500', made: false },
    { name: '502', made: false },
    { name: '502', made: true },
    { name: '504', made: false },
    { name: '504', made: true },
  ],
  'a busy site': [
    { name: '503', retryAfter: 'seconds', seconds: 1 },
    { name: '503', retryAfter: 'none' },
    { name: '503', retryAfter: 'date', seconds: 1 },
    { name: '429', retryAfter: 'none' },
    { name: '429', retryAfter: 'seconds', seconds: 1 },
    { name: '429', retryAfter: 'date', seconds: 1 },
  ],
  refusals: [{ name: '403' }, { name: '404' }],
  'a refused token': [{ name: '401' }],
  'a redirect to HTTPS': [{ name: 'redirect-https' }],
  'a redirect to another host': [{ name: 'redirect-host' }],
  'answers of another kind': [
    { name: 'malformed' },
    { name: 'empty' },
    { name: 'huge', bytes: 3_000_000 },
    { name: 'html', status: 200, made: true },
    { name: 'html', status: 502, made: true },
    { name: 'html', status: 200, made: false },
  ],
};

/** `npm test` has one fault of each class strike the same feed. */
const CASES: readonly (readonly [string, readonly CreateFault[]])[] = byExtent(Object.entries(FAULTS), [
  ['a fault of each class', Object.values(FAULTS).flatMap((faults) => faults.slice(0, 1))],
]);

describe('creates that hit', { concurrent: true }, () => {
  it.for(CASES)('%s', { timeout: 900_000 }, async ([, faults], { open }) => {
    const installation = await open({ site: SHORT_RETRY });
    const { sandbox } = installation;
    await sandbox.setFaults(faults.map((fault, at) => ({ ...fault, on: ['create'], after: 1 + 2 * at, count: 3 })));
    const list = postings(6 * faults.length);
    await installation.writeFeed(feedXml(list));
    const struck = () => sandbox.requests.recent().flatMap((each) => each.faults).length;
    const { db } = await installation.app();
    // A pull ends early if the site seems to have stopped. The last fault may strike once only.
    for (let pull = 0; pull < 5 + faults.length && struck() <= 3 * (faults.length - 1); pull++) {
      await resumeSite(db, 'board' as SiteName);
      await installation.sync();
    }
    expect(struck()).toBeGreaterThan(3 * (faults.length - 1));
    await heal(installation);
    await checkLaws(installation, list);
  });

  it('many faults at random', { timeout: 1_200_000 }, async ({ open }) => {
    const count = countOf(process.env.AMBIGUOUS_CREATES, 60, 10);
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
    const { db } = await installation.app();
    const failed = async (): Promise<number> => {
      const [row] = await db.query<{ n: number }>(
        `select count(distinct key)::int as n from failure where operation = 'create'`,
      );
      return Number(row?.n);
    };
    // As above, a pull may end early.
    for (let pull = 0; pull < 5 && (await failed()) <= count / 4; pull++) {
      await resumeSite(db, 'board' as SiteName);
      await installation.sync();
    }
    expect(await failed()).toBeGreaterThan(count / 4);
    // A sync waits for doubts for a limited time; many doubts take several readings of a long list.
    while ((await heal(installation)).in_doubt > 0);
    await checkLaws(installation, list);
  });
});
