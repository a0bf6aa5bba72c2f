// Seeded lives that combine features: SEED=123 replays one, SEEDS=300 plays 300 of them, starting at FIRST_SEED.
// @module-tag slow
import { describe } from 'vitest';
import { cross } from './crossing.ts';
import { lawTest as it } from './law-test.ts';

const given = process.env.SEED;
const first = Number(process.env.FIRST_SEED ?? 1);
const count = Number(process.env.SEEDS ?? 12);
const seeds = given === undefined ? Array.from({ length: count }, (_, at) => first + at) : [Number(given)];

describe('a life in which configuration, names, tokens, site and reviewers change keeps all laws', {
  concurrent: true,
}, () => {
  it.for(seeds)('seed %i', { timeout: 900_000 }, async (seed, { open }) => {
    await cross(seed, await open());
  });
});
