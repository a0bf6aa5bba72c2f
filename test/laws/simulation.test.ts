// Simulated lives from seeds, of several kinds (simulated-kind.ts), on sites with several habits (simulated-habits.ts): SEED=123 replays one,
// FIRST_SEED=1000 SEEDS=200 plays 200 of them, starting at 1000.
import { describe } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { countOf } from '../support/extent.ts';
import { lawTest as it } from './law-test.ts';
import { kindOf, optionsOf } from './simulated-kind.ts';
import { simulate } from './simulation.ts';

const given = process.env.SEED;
const first = Number(process.env.FIRST_SEED ?? 1);
const count = countOf(process.env.SEEDS, 24, 1);
const seeds = given === undefined ? Array.from({ length: count }, (_, at) => first + at) : [Number(given)];

describe('a life of changes, faults and crashes keeps all laws', { concurrent: true }, () => {
  it.for(seeds)('seed %i', { timeout: 900_000 }, async (seed, { open, onTestFinished }) => {
    const kind = kindOf(seed);
    // A backup must not have the site's jobs.
    const own = kind.isRestored ? await createTestDatabase() : undefined;
    if (own !== undefined) onTestFinished(() => own.drop());
    await simulate(seed, await open({ ...optionsOf(kind), databaseUrl: own?.url }), kind);
  });
});
