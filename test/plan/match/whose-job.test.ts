// Whether a mapped job is the one that a create in doubt made: sites reuse IDs, and rewrite the references they store.
import { describe, expect, it } from 'vitest';
import type { JobComparison } from '../../../src/plan/match/compare-job.ts';
import { type Certainty, judgeFound, type PossibleJob, reuseOf, whoseJob } from '../../../src/plan/match/whose-job.ts';
import type { LearntRewrites } from '../../../src/plan/observe-values.ts';

const NONE: LearntRewrites = new Map();
const PREFIXED: LearntRewrites = new Map([['number', [{ kind: 'prefixed', detail: 'ACME-', seen: 3 }]]]);

const table: readonly (readonly [
  shown: string | undefined,
  sent: string | undefined,
  older: string | undefined,
  learnt: LearntRewrites,
  expected: Certainty,
])[] = [
  ['s4', 's4', 's1', NONE, 'sure'],
  ['S4', 's4', 's1', NONE, 'sure'],
  ['REQ-2024', 'REQ-2024-0815', 'JOB-2023-11', NONE, 'sure'],
  ['ACME-77', '77', '12', PREFIXED, 'sure'],
  // A form of both references.
  ['R-123', 'R-123', 'R-12345', NONE, 'unsure'],
  ['7', '7', '007', NONE, 'unsure'],
  ['007', '7', '007', NONE, 'unmatched'],
  ['REQ-2024', 'REQ-2024-0815', 'REQ-2024-0816', NONE, 'unmatched'],
  // Nothing is known of the older posting, or it never had a reference.
  ['s4', 's4', undefined, NONE, 'unsure'],
  ['s4', 's4', '', NONE, 'unsure'],
  ['s1', 's4', 's1', NONE, 'unmatched'],
  ['s9', 's4', 's1', NONE, 'unmatched'],
  ['', 's4', 's1', NONE, 'unmatched'],
  [undefined, 's4', 's1', NONE, 'unmatched'],
  ['s4', undefined, 's1', NONE, 'unmatched'],
];

const fields = (number: string | undefined) => ({ title: 'Nurse', ...(number === undefined ? {} : { number }) });

describe('a mapped job that shows a reference', () => {
  it.each(table)('%s, where %s was sent and the older posting has %s', (shown, sent, older, learnt, expected) => {
    const compared = {
      sent: fields(sent),
      shown: fields(shown),
      older: older === undefined ? undefined : fields(older),
    };
    expect(reuseOf(compared, { referenceField: 'number', learnt })).toBe(expected);
  });

  it('proves nothing without a reference field', () => {
    const compared = { sent: fields('s4'), shown: fields('s4'), older: fields('s1') };
    expect(reuseOf(compared, { referenceField: undefined, learnt: NONE })).toBe('unmatched');
  });
});

describe('a job without a reference', () => {
  it.each([
    ['1500.0', 'number', 'sure', 'new'],
    ['900.0', 'number', 'sure', 'older'],
    ['1500.0', undefined, 'unsure', undefined],
    ['1,500', undefined, 'sure', 'new'],
  ] as const)('that shows %s as %s is %s the %s one’s', (says, type, kind, owner) => {
    const types = type && { pay: type };
    const verdict = whoseJob({ pay: says }, { pay: '1,500' }, { pay: '900' }, undefined, types);
    expect(verdict).toMatchObject({ kind, ...(owner && { best: owner }) });
  });
});

describe('jobs that a create in doubt may have made', () => {
  const comparison = (reference: number, title: number) =>
    ({ grades: new Map(Object.entries({ ' reference': reference, ' title': title })) }) as unknown as JobComparison;
  type Named = PossibleJob & { readonly id: string };
  const job = (id: string, likeness: PossibleJob['likeness'], reference: number): Named => ({
    id,
    likeness,
    comparison: comparison(reference, 3),
  });
  const match = job('match', 'match', 3);
  const second = job('second', 'match', 3);
  const close = job('close', 'perhaps', 3);
  const further = job('further', 'perhaps', 1);
  const ofReference = job('of reference', 'perhaps', 2);
  const alike = job('alike', 'resembles', 0);

  it.each<[readonly Named[], number, boolean, string, string | undefined]>([
    [[match], 1, false, 'sure', 'match'],
    [[match, alike], 1, false, 'sure', 'match'],
    [[match, further], 1, false, 'sure', 'match'],
    [[match, close], 1, false, 'unsure', 'match'],
    [[match, ofReference], 1, false, 'unsure', 'match'],
    [[match, ofReference], 1, true, 'sure', 'match'],
    [[match, second], 1, false, 'unsure', 'match'],
    [[match, second], 2, false, 'sure', 'match'],
    [[match, second, close], 2, false, 'unsure', 'match'],
    [[alike], 1, false, 'unsure', 'alike'],
    [[], 1, false, 'unmatched', undefined],
  ])('%j, %d alike, reference shared: %s: %s', (found, alikeCreates, isReferenceShared, kind, id) => {
    const verdict = judgeFound(found, { alike: alikeCreates, isReferenceShared });
    expect(verdict).toMatchObject({ kind, ...(id === undefined ? {} : { best: { id } }) });
  });
});
