// A process that undoes a pull dies at each step, or undoes it while its changes are sent: the site ends as it was before the pull,
// with one job per posting, and what follows needs no person but to resume the feed.
// @module-tag slow

import { describe, expect } from 'vitest';
import { feedName } from '../../src/posting/identifiers.ts';
import { retryChanges } from '../../src/store/change/act-in-review.ts';
import { selectedIds } from '../../src/store/review/review-totals.ts';
import type { Step } from '../../src/telemetry/times.ts';
import { runProgram } from '../cli/run-program.ts';
import { spread } from '../support/extent.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { inTheMiddle } from './in-the-middle.ts';
import type { Installation } from './installation.ts';
import { lawTest as it, type Open } from './law-test.ts';
import { checkLaws } from './laws.ts';

const RIGHT = postings(12);
/** Two gone, three changed, two new. */
const WRONG = [
  ...postings(10).map((p) => (['p2', 'p4', 'p6'].includes(p.key) ? posting(p.key, { title: 'Wrong' }) : p)),
  posting('n1'),
  posting('n2'),
];

const OPTIONS = {
  queue: 'database',
  site: { limits: '{ requests_per_second: 5000, concurrency: 1, timeout_seconds: 2 }' },
  feed: { delete_guard: '{ percent: 100, count: 100 }' },
};

/** Opens an installation that has mirrored the wrong feed after the right one. Returns the number of that pull. */
async function openWrong(open: Open): Promise<{ installation: Installation; pull: number }> {
  const installation = await open(OPTIONS);
  await installation.syncOf(RIGHT);
  return { installation, pull: await mirrorWrong(installation) };
}

async function mirrorWrong(installation: Installation): Promise<number> {
  const { pull } = await installation.syncOf(WRONG);
  await installation.stopEngine();
  return pull as number;
}

/** Sends what is left without pulling: the feed is stopped, or its source is still wrong. */
async function sendRest(installation: Installation): Promise<void> {
  const { db } = await installation.app();
  const [stopped] = await db.query('select stopped_by from feed_state where stopped_by is not null');
  expect(stopped).toBeDefined();
  for (let round = 0; round < 8; round++) {
    await db.transaction(async (tx) => retryChanges(tx, await selectedIds(tx, { feed: feedName('acme') }), 'a person'));
    await installation.sync();
    const open = await db.query('select from change');
    if (open.length === 0) break;
  }
  await installation.stopEngine();
}

async function checkUndone(installation: Installation, right = RIGHT): Promise<void> {
  await sendRest(installation);
  expect(await runProgram(installation, 'feeds', 'resume', 'acme')).toMatchObject({ status: 0 });
  // Once the source is right, pulling it sends nothing.
  await installation.writeFeed(feedXml(right));
  await checkLaws(installation, right);
}

const undoOf = (pull: number) => ['undo', String(pull), '--yes', '--json'];

const STEPS = ['answer-received', 'intent-committed', 'outcome-committed'] as const;

/** One request at a time: deletes (the first), then creates (the third), then updates: each step, each time at another of them. */
const SENDING: readonly (readonly { readonly step: Step; readonly nth: number }[])[] = [
  [3, 1, 5],
  [1, 5, 3],
  [5, 3, 1],
].map((numbers) => numbers.map((nth, at) => ({ step: STEPS[at] as Step, nth })));

async function dieUndoing({ spawn }: Installation, pull: number, step: Step, nth = 1): Promise<void> {
  const { signal, output } = await spawn(undoOf(pull), { FAULT_AT: step, FAULT_NTH: String(nth) }).ended;
  expect({ signal, output }, step).toMatchObject({ signal: 'SIGKILL' });
}

async function checkAlreadyUndone(installation: Installation, pull: number): Promise<void> {
  const again = await runProgram(installation, ...undoOf(pull));
  expect(again).toMatchObject({ status: 1, errors: expect.stringContaining('already') });
  await checkUndone(installation);
}

describe('a process that undoes a pull', { concurrent: true }, () => {
  it('killed before, at and after its commit: it is undone once', { timeout: 900_000 }, async ({ open }) => {
    const { installation, pull } = await openWrong(open);
    for (const step of ['undo-started', 'undo-merged', 'undo-committed'] as const)
      await dieUndoing(installation, pull, step);
    await checkAlreadyUndone(installation, pull);
  });

  it.for(spread(SENDING, 0, SENDING.length).map((deaths) => [deaths.map(Object.values).join('; '), deaths] as const))(
    'killed while it sends, at %s',
    { timeout: 900_000 },
    async ([, deaths], { open }) => {
      const { installation, ...first } = await openWrong(open);
      let { pull } = first;
      for (const [at, { step, nth }] of deaths.entries()) {
        if (at > 0) pull = await mirrorWrong(installation);
        await dieUndoing(installation, pull, step, nth);
        await checkAlreadyUndone(installation, pull);
      }
    },
  );

  it('while another process sends the pull', { timeout: 900_000 }, async ({ open }) => {
    const right = postings(24);
    const installation = await open(OPTIONS);
    const { pull } = await installation.syncOf(right);
    await installation.stopEngine();
    const many = right.map(({ key }) => posting(key, { title: 'Wrong' }));
    const { begun } = await inTheMiddle(installation, many, () => installation.spawn(['sync', 'acme', '--json']));
    const undone = await installation.spawn(undoOf((pull as number) + 1)).ended;
    expect(undone).toMatchObject({ status: expect.toBeOneOf([0, 1, 2]) });
    await begun.ended;
    await installation.sandbox.setFaults([]);
    await checkUndone(installation, right);
  });

  it('beside the same undo: one of them does it', { timeout: 900_000 }, async ({ open }) => {
    const { installation, pull } = await openWrong(open);
    const ends = await Promise.all([1, 2].map(() => installation.spawn(undoOf(pull)).ended));
    expect(ends.filter(({ status }) => status === 0)).toHaveLength(1);
    await checkUndone(installation);
  });

  it('with creates, updates and deletes of unknown outcome', { timeout: 900_000 }, async ({ open }) => {
    const installation = await open(OPTIONS);
    await installation.syncOf(RIGHT);
    await installation.sandbox.setFaults([{ name: '500', made: true }]);
    const { pull } = await installation.syncOf(WRONG);
    await installation.stopEngine();
    await installation.sandbox.setFaults([]);
    await runProgram(installation, ...undoOf(pull as number));
    await checkUndone(installation);
  });
});
