// Kills a process at every named step of pull and apply, and checks that the next process sets everything right.
import { describe, expect } from 'vitest';
import type { Queryable } from '../../src/store/postgres/database.ts';
import type { Step } from '../../src/telemetry/times.ts';
import { chosen, spread } from '../support/extent.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { patientSite } from '../support/patient-site.ts';
import { heal } from './heal.ts';
import type { Installation } from './installation.ts';
import { lawTest as it, type Open, QUEUES } from './law-test.ts';
import { checkLaws } from './laws.ts';

const BEFORE = postings(12);
const NEW = [posting('n1'), posting('n2'), posting('n3')];
/** Two gone, three changed, three new. */
const AFTER = [
  ...postings(10).map((p) => (['p2', 'p4', 'p6'].includes(p.key) ? { ...p, title: `Head nurse ${p.key}` } : p)),
  ...NEW,
];

/** One process after another dies at these steps. */
const titled = (deaths: readonly (readonly Step[])[]) =>
  deaths.map((steps) => ({ steps, title: steps.join(', then at ') }));

const PULLS = titled([['pull-started', 'records-read', 'changes-merged', 'pull-committed']]);

/** From `BEFORE` to `AFTER`, each time by one operation alone, so that it is certain which one a process died at. */
const OPERATIONS = [
  { operation: 'delete', list: postings(10) },
  { operation: 'create', list: [...postings(10), ...NEW] },
  { operation: 'update', list: AFTER },
] as const;
const STEPS = ['intent-committed', 'answer-received', 'outcome-committed'] as const;

/** Each step with each operation, three of each in one installation. */
const SENDING = STEPS.map((first, row) => ({
  first,
  deaths: OPERATIONS.map((each, at) => ({ ...each, step: STEPS[(row + at) % STEPS.length] as Step })),
}));

/** `npm test` kills with one of the queues. */
const QUEUES_HERE = chosen(QUEUES, ({ queue }) => queue === 'database');
const numberOf = (queue: string): number => QUEUES.findIndex((each) => each.queue === queue);

/** Opens an installation that has mirrored `BEFORE` and whose feed now contains `AFTER`. */
async function openMirrored(open: Open, queue: string): Promise<Installation> {
  const installation = await open({
    queue,
    feed: { delete_guard: '{ percent: 100, count: 100 }' },
    site: { limits: '{ requests_per_second: 5000, concurrency: 1, timeout_seconds: 2 }' },
  });
  await installation.syncOf(BEFORE);
  // Only the child sends.
  await installation.stopEngine();
  await installation.writeFeed(feedXml(AFTER));
  return installation;
}

async function die({ spawn }: Installation, step: Step, nth = 1): Promise<void> {
  const { signal, output } = await spawn(['sync'], { FAULT_AT: step, FAULT_NTH: String(nth) }).ended;
  expect({ signal, output }, step).toMatchObject({ signal: 'SIGKILL' });
}

/** The operations that a dead process was sending. */
async function sendingOf({ app, stopEngine }: Installation): Promise<unknown[]> {
  const { db } = await app();
  const rows = await db.query<{ operation: string }>(
    `select attempt_operation as operation from change where state = 'sending'`,
  );
  await stopEngine();
  return rows.map(({ operation }) => operation);
}

// Concurrent, because most of the time is spent waiting until the dead worker's queue job is redelivered.
describe.each(QUEUES_HERE)('killed with the queue in $queue $note', { concurrent: true }, ({ queue, available }) => {
  it.skipIf(!available).for(spread(PULLS, numberOf(queue), 2))(
    'at $title of the pull',
    { timeout: 900_000, tags: 'slow' },
    async ({ steps }, { open }) => {
      const installation = await openMirrored(open, queue);
      for (const step of steps) await die(installation, step);
      await heal(installation);
      await checkLaws(installation, AFTER);
    },
  );

  it.skipIf(!available).for(chosen(spread(SENDING, numberOf(queue), 3), ({ first }) => first === 'intent-committed'))(
    'at $first of a delete, then at the other steps of a create and of an update',
    { timeout: 900_000 },
    async ({ deaths }, { open }) => {
      const installation = await openMirrored(open, queue);
      for (const { step, operation, list } of deaths) {
        await installation.stopEngine();
        await installation.writeFeed(feedXml(list));
        // The first request has gone well.
        await die(installation, step, 2);
        if (step !== 'outcome-committed') expect(await sendingOf(installation)).toContain(operation);
        await heal(installation);
        await checkLaws(installation, list);
      }
    },
  );
});

describe.each(QUEUES_HERE)(
  'killed while it resolves doubts, with the queue in $queue $note',
  { concurrent: true },
  ({ queue, available }) => {
    const DOUBTFUL = [
      { title: 'doubt-listed, then at doubt-resolved', steps: ['doubt-listed', 'doubt-resolved'], made: true },
      { title: 'doubt-resolved', steps: ['doubt-resolved'], made: false },
    ] as const;

    it.skipIf(!available).for(chosen(spread(DOUBTFUL, numberOf(queue), 2), ({ made }) => made))(
      'at $title, made $made',
      { timeout: 900_000 },
      async ({ steps, made }, { open }) => {
        const installation = await openMirrored(open, queue);
        await installation.sandbox.setFaults([{ name: '500', made, on: ['create'], count: 3 }]);
        for (const step of steps) await die(installation, step);
        let report = await heal(installation);
        for (let pull = 0; report.in_doubt > 0 && pull < 5; pull++) report = await heal(installation);
        await checkLaws(installation, AFTER);
      },
    );
  },
);

/** Empties the database: it knows none of the feed's jobs, although the site has them. */
async function forgetAll(db: Queryable): Promise<void> {
  for (const table of ['mapping', 'document', 'change', 'site_reference']) await db.query(`delete from ${table}`);
  await db.query('update feed_state set site_checked_at = null, source_version = null');
}

// Found jobs are kept: after the list was read, the next pull knows them, and need not search.
const SEARCHES: readonly (readonly Step[])[] = [['site-page-kept', 'site-read'], ['site-searched']];

describe.each(spread(QUEUES, 0, 2))('with the queue in $queue $note', { concurrent: true }, ({ queue, available }) => {
  it.skipIf(!available)(
    'killed at each step of a search of the site for jobs of a feed',
    { timeout: 900_000, tags: 'slow' },
    async ({ open }) => {
      const installation = await open({
        queue,
        searched: true,
        sandbox: { pageSize: 5 },
        site: patientSite(20, 1),
      });
      await installation.syncOf(BEFORE);
      for (const steps of SEARCHES) {
        const { db } = await installation.app();
        await forgetAll(db);
        await installation.stopEngine();
        for (const step of steps) await die(installation, step);
        const report = await heal(installation);
        // Each posting's job exists already: none is created again, and each waits for a person.
        expect(report).toMatchObject({ created: 0, in_doubt: BEFORE.length });
        const jobs = await installation.sandbox.inspect.jobs();
        expect(jobs.filter(({ owner }) => owner === installation.owner)).toHaveLength(BEFORE.length);
      }
    },
  );
});
