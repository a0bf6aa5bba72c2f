// The step `match`: groups, texts without a match, and texts that are too long.
import { expect, test } from 'vitest';
import { MalformedPatternError } from '../../../src/posting/pattern.ts';
import { compileStateField } from '../../../src/posting/site-rules.ts';
import { compileMatch, type MatchStep } from '../../../src/posting/steps/step.ts';
import { sampleSpec, stateTable } from '../sample-spec.ts';

const readState = compileStateField(sampleSpec().stateField, stateTable);
const apply = (step: Omit<MatchStep, 'kind'>, text: string) =>
  compileMatch({ kind: 'match', ...step }, 'pay').apply(text, readState);

test.each<[step: Omit<MatchStep, 'kind'>, text: string, value: string]>([
  [{ pattern: '[0-9]+', otherwise: 'reject' }, 'from 20 to 30', '20'],
  [{ pattern: 'to ([0-9]+)', otherwise: 'reject' }, 'from 20 to 30', '30'],
  [{ pattern: '([0-9]+) to ([0-9]+)', take: '{2}-{1} ({0})', otherwise: 'reject' }, '20 to 30', '30-20 (20 to 30)'],
  [{ pattern: '(a)|(b)', take: '{1}{2}!', otherwise: 'reject' }, 'b', 'b!'],
  [{ pattern: 'x', otherwise: 'keep' }, 'abc', 'abc'],
  [{ pattern: 'x', otherwise: 'default' }, 'abc', ''],
  [{ pattern: '(x)?b', otherwise: 'reject' }, 'abc', ''],
])('%j in %j', (step, text, value) => {
  expect(apply(step, text)).toEqual({ kind: 'value', value });
});

test('refuses a text without a match, and one that is too long', () => {
  const none = { kind: 'refused', message: 'has nothing that matches the pattern of pay' };
  expect(apply({ pattern: 'x', otherwise: 'reject' }, 'abc')).toEqual(none);
  const long = 'a'.repeat(1_000_000);
  const tooLong = 'has 1000000 characters, too many for the pattern of pay; use a smaller pattern';
  expect(apply({ pattern: '(a|b){200}', otherwise: 'keep' }, long)).toEqual({ kind: 'refused', message: tooLong });
});

test('refuses a group that the pattern does not have', () => {
  const step = { kind: 'match', pattern: '(a)', take: '{1}{2}', otherwise: 'reject' } as const;
  expect(() => compileMatch(step, 'pay')).toThrow(MalformedPatternError);
});
