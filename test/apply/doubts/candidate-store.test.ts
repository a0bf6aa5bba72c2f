// Limits on the candidates that are kept for creates in doubt.
import { expect, it } from 'vitest';
import { CandidateStore, type Candidates, MAX_CANDIDATES } from '../../../src/apply/candidate-search.ts';
import type { SiteJob } from '../../../src/site/exchange.ts';

const job = (id: number, size: number): SiteJob => ({
  siteJobId: String(id) as never,
  fields: { number: `n${id}`, description: 'x'.repeat(size) },
});
const open = (): Candidates => ({ candidates: [], crowded: false });

it('drops the long values of jobs once they take too much memory together', () => {
  const store = new CandidateStore({ characters: 2_000, jobs: 100, pairs: 100 });
  const doubt = open();
  for (let id = 0; id < 10; id++) store.keep(job(id, 900), [doubt]);
  const lengths = doubt.candidates.map(({ fields }) => fields.description?.length ?? 0);
  expect(lengths).toEqual([900, 900, 0, 0, 0, 0, 0, 0, 0, 0]);
  expect(doubt.candidates.at(-1)?.fields).toEqual({ number: 'n9' });
  expect(doubt.crowded).toBe(false);
});

it.each([
  ['jobs', { characters: 1e6, jobs: 3, pairs: 100 }],
  ['pairs of a doubt and a job', { characters: 1e6, jobs: 100, pairs: 3 }],
])('marks doubts as crowded beyond a number of %s', (_name, limits) => {
  const store = new CandidateStore(limits);
  const [first, other] = [open(), open()];
  for (let id = 0; id < 3; id++) store.keep(job(id, 1), [first]);
  expect(first.crowded).toBe(false);
  store.keep(job(3, 1), [first, other]);
  expect([first, other].map(({ candidates, crowded }) => [candidates.length, crowded])).toEqual([
    [3, true],
    [0, true],
  ]);
});

it('keeps a limited number of candidates for one doubt', () => {
  const store = new CandidateStore();
  const doubt = open();
  for (let id = 0; id <= MAX_CANDIDATES; id++) store.keep(job(id, 1), [doubt]);
  expect([doubt.candidates.length, doubt.crowded]).toEqual([MAX_CANDIDATES, true]);
});
