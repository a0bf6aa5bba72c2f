// When one of several candidates is certain, and why it is not.
import { describe, expect, it } from 'vitest';
import { type JobCandidate, type JudgedPosting, judgeCandidates } from '../../../src/plan/match/whose-job.ts';

const POSTING: JudgedPosting = { blocker: undefined, isReferenceCrowded: false, isContentCrowded: false };
const WHOLE = { noContent: undefined };

const BASE: JobCandidate = {
  siteJobId: '1',
  score: 1,
  reasons: [],
  sharesReference: false,
  sharesContent: false,
  byReference: false,
  isOwned: false,
  wasDeleted: false,
  mayBeOthers: false,
  isSecret: false,
  jobsOfReference: 0,
  postingsOfReference: 0,
  jobsOfContent: 0,
  postingsOfContent: 0,
};
const byReference = (changes: Partial<JobCandidate> = {}): JobCandidate => ({
  ...BASE,
  sharesReference: true,
  byReference: true,
  jobsOfReference: 1,
  postingsOfReference: 1,
  ...changes,
});
const byContent = (changes: Partial<JobCandidate> = {}): JobCandidate => ({
  ...BASE,
  sharesContent: true,
  jobsOfContent: 1,
  postingsOfContent: 1,
  ...changes,
});

describe('certain', () => {
  it.each<[string, readonly JobCandidate[]]>([
    ['by reference', [byReference()]],
    ['by content', [byContent()]],
    [
      'by reference, beside one that is only alike',
      [byReference({ score: 0.8 }), { ...BASE, siteJobId: '2', score: 0.9 }],
    ],
    [
      'by content, though the reference is shared',
      [
        byReference({
          sharesContent: true,
          jobsOfContent: 1,
          postingsOfContent: 1,
          jobsOfReference: 2,
          postingsOfReference: 2,
        }),
      ],
    ],
  ])('%s', (_, candidates) => {
    expect(judgeCandidates(POSTING, candidates, WHOLE)).toMatchObject({ kind: 'sure', best: { siteJobId: '1' } });
  });
});

describe('not certain', () => {
  it.each<[string, readonly JobCandidate[], Partial<JudgedPosting>, string]>([
    ['only alike', [BASE], {}, 'not enough is the same to be certain'],
    ['two jobs with the reference', [byReference({ jobsOfReference: 2 })], {}, '2 jobs share this reference'],
    [
      'two postings with the reference',
      [byReference({ postingsOfReference: 2 })],
      {},
      '2 postings share this reference',
    ],
    ['two jobs with the content', [byContent({ jobsOfContent: 2 })], {}, '2 jobs share this content'],
    ['two postings with the content', [byContent({ postingsOfContent: 3 })], {}, '3 postings share this content'],
    [
      'its reference is at another job',
      [byContent({ jobsOfReference: 1 })],
      {},
      'another job shows the reference of the posting',
    ],
    [
      'the reference is another posting’s',
      [byContent({ postingsOfReference: 1 })],
      {},
      'another posting has the reference of the job',
    ],
    ['one by reference, one by content', [byReference(), byContent({ siteJobId: '2' })], {}, 'several jobs fit'],
    ['a create in flight', [byReference()], { blocker: 'in flight' }, 'in flight'],
    ['another user', [byReference({ mayBeOthers: true })], {}, 'the job may be another user’s'],
    ['the token in it', [byReference({ isSecret: true })], {}, 'the job shows the token, so it is not compared'],
    ['too many references', [byReference()], { isReferenceCrowded: true }, 'too many share this reference'],
    ['too many with the content', [byContent()], { isContentCrowded: true }, 'too many have this title and place'],
  ])('%s', (_, candidates, posting, reason) => {
    const verdict = judgeCandidates({ ...POSTING, ...posting }, candidates, WHOLE);
    expect(verdict).toMatchObject({ kind: 'unsure', reasons: [reason] });
  });

  it('content, if the feed was not read to its end', () => {
    expect(judgeCandidates(POSTING, [byContent()], { noContent: 'cut off' })).toMatchObject({
      kind: 'unsure',
      reasons: ['cut off'],
    });
    expect(judgeCandidates(POSTING, [byReference()], { noContent: 'cut off' })).toMatchObject({ kind: 'sure' });
  });
});

it('a job that a posting has is no candidate', () => {
  expect(judgeCandidates(POSTING, [byReference({ isOwned: true })], WHOLE)).toEqual({
    kind: 'unmatched',
    reasons: ['job 1 shows its reference, but already belongs to a posting'],
  });
  expect(judgeCandidates(POSTING, [{ ...BASE, score: 0.4 }], WHOLE)).toEqual({ kind: 'unmatched', reasons: [] });
});
