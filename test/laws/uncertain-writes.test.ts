// Updates and deletes of unknown outcome while the feed changes: in the end the site matches the feed.
import { describe, expect } from 'vitest';
import type { Fault } from '../../src/sandbox/interface/fault-table.ts';
import { firstOf } from '../support/extent.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { heal } from './heal.ts';
import type { Installation } from './installation.ts';
import { lawTest as it, type Open } from './law-test.ts';
import { checkLaws } from './laws.ts';

const SHORT_RETRY = {
  limits: '{ requests_per_second: 5000, concurrency: 4, timeout_seconds: 0.8 }',
  doubts: '{ resolve_after_seconds: 2 }',
};

async function openMirrored(open: Open, site: Readonly<Record<string, string>> = SHORT_RETRY): Promise<Installation> {
  const installation = await open({ site });
  await installation.syncOf(postings(8));
  return installation;
}

/** Faults after which the write was done, but not confirmed. `test/site/outcome.test.ts` has what each means; one rule covers all. */
const MADE: readonly (readonly [string, Omit<Fault, 'on'>])[] = [
  ['a reset after the write', { name: 'reset-after' }],
  ['no response', { name: 'timeout-made' }],
  ['an internal error', { name: '500', made: true }],
  ['a gateway that gave up', { name: '504', made: true }],
];

const othersThan = (...keys: readonly string[]) => postings(8).filter(({ key }) => !keys.includes(key));
const others = othersThan('p3');

describe('after', { concurrent: true }, () => {
  it.for(firstOf(MADE, 1))(
    '%s of two updates and a delete, a feed that reverts, changes something else and lists the posting again is mirrored',
    { timeout: 900_000 },
    async ([, fault], { open }) => {
      const installation = await openMirrored(open);
      const unchanged = othersThan('p3', 'p4', 'p5');
      const app = await installation.app();
      await installation.sandbox.setFaults([{ ...fault, on: ['update', 'delete'] }]);
      await installation.writeFeed(
        feedXml([...unchanged, posting('p3', { title: 'Other', city: 'Salem' }), posting('p4', { title: 'Other' })]),
      );
      await installation.sync();
      // All was done, and nothing is known to be; but of a delete that was answered, the list tells.
      const left = fault.name === '500' ? ['p3', 'p4'] : ['p3', 'p4', 'p5'];
      const jobs = await installation.siteJobs();
      expect([jobs.get('p3')?.title, jobs.get('p4')?.title, jobs.has('p5')]).toEqual(['Other', 'Other', false]);
      expect(await app.db.query('select key from change order by key')).toEqual(left.map((key) => ({ key })));

      const latest = [...unchanged, posting('p3'), posting('p4', { city: 'Salem' }), posting('p5')];
      await installation.writeFeed(feedXml(latest));
      await heal(installation);
      await checkLaws(installation, latest);
    },
  );
});

it.concurrent('of a posting that leaves within its grace and comes back as it was: its job is as the feed has it', {
  timeout: 900_000,
}, async ({ open }) => {
  const installation = await open({
    site: SHORT_RETRY,
    feed: { delete_guard: '{ percent: 100, count: 100, missing_pulls: 5 }' },
  });
  await installation.syncOf(postings(8));
  await installation.sandbox.setFaults([{ name: 'reset-after', on: ['update'] }]);
  await installation.syncOf([...others, posting('p3', { title: 'Other' })]);
  expect((await installation.siteJobs()).get('p3')?.title).toBe('Other');
  await installation.sandbox.setFaults([]);
  expect(await installation.syncOf(others)).toMatchObject({ deleted: 0, grace: 1 });
  await installation.writeFeed(feedXml(postings(8)));
  await heal(installation);
  await checkLaws(installation, postings(8));
  expect((await installation.siteJobs()).get('p3')?.title).toBe('Nurse p3');
});

describe('a request that lands late', { concurrent: true }, () => {
  // It lands well after a newer request could have been sent, and well before the newer one may be sent.
  const SITE = {
    limits: '{ requests_per_second: 5000, concurrency: 4, timeout_seconds: 3 }',
    doubts: '{ resolve_after_seconds: 9 }',
  };
  const LATE = { name: 'timeout-late', ms: 3_000, count: 1 } as const;

  it('leaves no older version: the newer version waits for it', { timeout: 900_000 }, async ({ open }) => {
    const installation = await openMirrored(open, SITE);
    await installation.sandbox.setFaults([{ ...LATE, on: ['update'] }]);
    await installation.writeFeed(feedXml([...others, posting('p3', { title: 'Older' })]));
    const landed = installation.sandbox.requests.next(({ faults }) => faults.length > 0);
    expect(await installation.sync()).toMatchObject({ status: 'mirrored', updated: 1 });
    const latest = [...others, posting('p3', { title: 'Newer' })];
    expect(await installation.syncOf(latest)).toMatchObject({ status: 'mirrored', updated: 1 });
    await landed;
    await checkLaws(installation, latest);
  });

  it('deletes no posting that came back', { timeout: 900_000, tags: 'slow' }, async ({ open }) => {
    const retry = '{ attempts: 5, first_delay_seconds: 100, max_delay_seconds: 100 }';
    const installation = await openMirrored(open, { ...SITE, retry });
    await installation.sandbox.setFaults([{ ...LATE, on: ['delete'] }]);
    await installation.writeFeed(feedXml(others));
    const landed = installation.sandbox.requests.next(({ faults }) => faults.length > 0);
    expect(await installation.sync()).toMatchObject({ status: 'pending', pending_deletes: 1 });
    expect(await installation.syncOf(postings(8))).toMatchObject({ status: 'mirrored', deleted: 0 });
    await landed;
    await checkLaws(installation, postings(8));
  });
});

describe('a site that reports a live job as gone', { concurrent: true }, () => {
  it('at an update and at a delete is not believed', { timeout: 900_000 }, async ({ open }) => {
    const installation = await openMirrored(open);
    await installation.sandbox.setFaults([
      { name: '404', on: ['update'], count: 1 },
      { name: '404', on: ['delete'], count: 1 },
    ]);
    const latest = [...othersThan('p3', 'p5'), posting('p3', { title: 'Other' })];
    await installation.syncOf(latest);
    await heal(installation);
    await checkLaws(installation, latest);
  });

  it('is believed if the job was deleted by hand', { timeout: 900_000, tags: 'slow' }, async ({ open }) => {
    const installation = await openMirrored(open);
    const job = (await installation.sandbox.inspect.jobs()).find(
      ({ fields, owner }) => fields.number === 'p3' && owner === installation.owner,
    );
    await installation.sandbox.inspect.removeJob(job?.id ?? '');
    const latest = [...others, posting('p3', { title: 'Other' })];
    await installation.syncOf(latest);
    await checkLaws(installation, latest);
  });
});
