// Lives in which features cross, from seeds: SEED=123 plays one again, SEEDS=300 plays more of them, from FIRST_SEED on.
import { describe } from 'vitest';
import { countOf } from '../support/extent.ts';
import { cross } from './crossing.ts';
import { lawTest as it } from './law-test.ts';

const given = process.env.SEED;
const first = Number(process.env.FIRST_SEED ?? 1);
const count = countOf(process.env.SEEDS, 12, 2);
const seeds = given === undefined ? Array.from({ length: count }, (_, at) => first + at) : [Number(given)];

describe('a life in which configuration, names, tokens, site and reviewers change keeps all laws', {
  concurrent: true,
}, () => {
  it.for(seeds)('seed %i', { timeout: 900_000 }, async (seed, { open }) => {
    await cross(seed, await open());
  });
});
