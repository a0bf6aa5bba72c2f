// When a refusal without a reason is about the job, and when about the set-up of all requests.
import { expect, it } from 'vitest';
import { judgeSuspicion, type SuspicionFacts } from '../../src/plan/set-up-suspicion.ts';

const nothing: SuspicionFacts = {
  isCertain: false,
  isKnown: false,
  isDisproved: false,
  othersDiffer: false,
  refused: 1,
  othersLeft: false,
  hasJobs: false,
  isResumed: false,
};

it.each<[name: string, facts: Partial<SuspicionFacts>, verdict: string]>([
  ['a posting alone', {}, 'job'],
  ['a posting alone, of words that are mostly about the set-up', { isKnown: true }, 'pause'],
  ['the same at a site with jobs', { isKnown: true, hasJobs: true }, 'job'],
  ['a posting alone, of words that are never about a job', { isCertain: true, isKnown: true, hasJobs: true }, 'pause'],
  ['two postings', { refused: 2 }, 'job'],
  ['three postings', { refused: 3 }, 'pause'],
  ['nine postings at a site with jobs', { refused: 9, hasJobs: true }, 'job'],
  ['ten postings at a site with jobs', { refused: 10, hasJobs: true }, 'pause'],
  ['ten postings, and more to come', { refused: 10, othersLeft: true }, 'pause'],
  ['nine postings, and more to come', { refused: 9, othersLeft: true }, 'wait'],
  ['words that are never about a job, and more to come', { isCertain: true, isKnown: true, othersLeft: true }, 'wait'],
  ['another posting was accepted', { isDisproved: true, refused: 12, isCertain: true, isKnown: true }, 'job'],
  ['another posting was refused in other words', { othersDiffer: true, refused: 12 }, 'job'],
  ['after a person resumed the site', { isResumed: true, refused: 12 }, 'job'],
  [
    'words that are never about a job, after a person resumed',
    { isResumed: true, isCertain: true, isKnown: true },
    'pause',
  ],
])('%s', (_name, facts, verdict) => expect(judgeSuspicion({ ...nothing, ...facts })).toBe(verdict));
