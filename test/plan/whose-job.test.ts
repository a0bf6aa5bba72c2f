// Whether a mapped job is the one that a create in doubt made: sites reuse IDs, and rewrite the references they store.
import { describe, expect, it } from 'vitest';
import type { LearntRewrites } from '../../src/plan/observe-values.ts';
import { type Reuse, reuseOf, whoseJob } from '../../src/plan/whose-job.ts';

const NONE: LearntRewrites = new Map();
const PREFIXED: LearntRewrites = new Map([['number', [{ kind: 'prefixed', detail: 'ACME-', seen: 3 }]]]);

const table: readonly (readonly [
  shown: string | undefined,
  sent: string | undefined,
  older: string | undefined,
  learnt: LearntRewrites,
  expected: Reuse,
])[] = [
  ['s4', 's4', 's1', NONE, 'ours'],
  ['S4', 's4', 's1', NONE, 'ours'],
  ['REQ-2024', 'REQ-2024-0815', 'JOB-2023-11', NONE, 'ours'],
  ['ACME-77', '77', '12', PREFIXED, 'ours'],
  // A form of both references.
  ['R-123', 'R-123', 'R-12345', NONE, 'unclear'],
  ['7', '7', '007', NONE, 'unclear'],
  ['007', '7', '007', NONE, 'theirs'],
  ['REQ-2024', 'REQ-2024-0815', 'REQ-2024-0816', NONE, 'theirs'],
  // Nothing is known of the older posting, or it never had a reference.
  ['s4', 's4', undefined, NONE, 'unclear'],
  ['s4', 's4', '', NONE, 'unclear'],
  ['s1', 's4', 's1', NONE, 'theirs'],
  ['s9', 's4', 's1', NONE, 'theirs'],
  ['', 's4', 's1', NONE, 'theirs'],
  [undefined, 's4', 's1', NONE, 'theirs'],
  ['s4', undefined, 's1', NONE, 'theirs'],
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
    expect(reuseOf(compared, { referenceField: undefined, learnt: NONE })).toBe('theirs');
  });
});

describe('a job without a reference', () => {
  it.each([
    ['1500.0', 'number', 'new'],
    ['900.0', 'number', 'older'],
    ['1500.0', undefined, 'unknown'],
    ['1,500', undefined, 'new'],
  ] as const)('that shows %s as %s is the %s one’s', (says, type, expected) => {
    const types = type && { pay: type };
    expect(whoseJob({ pay: says }, { pay: '1,500' }, { pay: '900' }, undefined, types)).toBe(expected);
  });
});
