// Kills a process at one named step after another, with different feeds and at a different time for each seed. CRASH_SEEDS=200 plays
// 200 seeds, starting at FIRST_SEED; SEED=123 replays one.
// @module-tag slow

import { afterAll, describe, expect } from 'vitest';
import { approveChanges } from '../../src/store/change/act-in-review.ts';
import { selectedIds } from '../../src/store/review/review-totals.ts';
import type { Step } from '../../src/telemetry/times.ts';
import { spread } from '../support/extent.ts';
import { heal } from './heal.ts';
import type { Installation } from './installation.ts';
import { lawTest as it } from './law-test.ts';
import { checkLaws } from './laws.ts';
import { type Random, randomOf } from './random.ts';
import { resolveAsPeopleDo } from './resolve-as-people-do.ts';
import { type SimulatedFeed, simulateFeed } from './simulated-feed.ts';
import { SIMULATED_FIELDS, SIMULATED_SITE } from './simulated-kind.ts';
import { STEPS } from './simulation.ts';

const given = process.env.SEED;
const first = Number(process.env.FIRST_SEED ?? 1);
const count = Number(process.env.CRASH_SEEDS ?? 2);
const numbered = Array.from({ length: count }, (_, at) => first + at);
const seeds = given === undefined ? spread(numbered, 0, 2) : [Number(given)];
/** How often a process was killed at each step; the others ended before they reached it. */
const kills = new Map<Step, number>(STEPS.map((step) => [step, 0]));

afterAll(() => {
  const counts = [...kills].map(([step, times]) => `${step} ${times}`).join(', ');
  process.stdout.write(`${seeds.length} seeds; killed at ${counts}\n`);
});

describe('a process killed at one step after another', { concurrent: true }, () => {
  it.for(seeds)('with seed %i', { timeout: 900_000 }, async (seed, { open }) => {
    const random = randomOf(seed);
    const installation = await open({ feed: { fields: SIMULATED_FIELDS }, site: SIMULATED_SITE });
    const feed = simulateFeed(random, 8 + random.number(10));
    await installation.writeFeed(feed.clean());
    await installation.sync();
    // Only the process that is killed sends.
    await installation.stopEngine();
    // At half of the steps: `crash.test.ts` kills at each.
    const steps = spread(random.some(STEPS, STEPS.length), 0, 2);
    for (const step of steps) await crashAt(step, seed, installation, feed, random);
  });
});

async function crashAt(
  step: Step,
  seed: number,
  installation: Installation,
  feed: SimulatedFeed,
  random: Random,
): Promise<void> {
  const moved = feed.change();
  // One create in any case, so that the step is reached.
  feed.renew([`made for ${step}`]);
  await installation.writeFeed(feed.clean());
  const doubtful = step.startsWith('doubt-');
  const made = random.chance(50);
  await installation.sandbox.setFaults(
    doubtful
      ? [{ name: '500', made, on: ['create'], count: 4 }]
      : random.chance(40)
        ? [{ name: 'reset-after', rate: 0.3, count: 3 }]
        : [],
  );
  const nth = step === 'intent-committed' ? 1 + random.number(2) : 1;
  const env = { FAULT_AT: step, FAULT_NTH: String(nth) };
  const { signal, output } = await installation.spawn(['sync'], env).ended;
  const again = `SEED=${seed} npx vitest run test/laws/crash-seeds.test.ts: ${moved}, killed at ${step}, time ${nth}`;
  if (signal === 'SIGKILL') kills.set(step, (kills.get(step) ?? 0) + 1);
  // A single change passes each step only once, and a sync on a busy machine does not wait for doubts forever.
  if (nth === 1 && !doubtful) expect(signal, `${again}\n${output}`).toBe('SIGKILL');
  try {
    await recordAll(installation);
    await checkLaws(installation, feed.postings, { stored: (fields) => fields });
    await installation.stopEngine();
  } catch (cause) {
    throw new Error(`${again}\n${cause}`, { cause });
  }
}

/**
 * Ends the faults, approves held deletes, and resolves jobs that resemble another posting's as a person would, until
 * everything is mirrored.
 */
async function recordAll(installation: Installation): Promise<void> {
  for (let healed = 0; healed < 8; healed++) {
    const { status } = await heal(installation);
    if (status === 'mirrored') return;
    const { db } = await installation.app();
    await db.transaction(async (tx) =>
      approveChanges(tx, await selectedIds(tx, { feed: 'acme' as never }), 'a reviewer'),
    );
    // Titles repeat, and a job with the title of a doubt and another reference needs a person.
    await resolveAsPeopleDo(installation, 'acme', ({ fields }, key) => fields.number === key);
  }
}
