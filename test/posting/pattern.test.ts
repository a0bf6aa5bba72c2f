// Patterns: bounded in time and size, with an explanation for what the engine does not know.
import { expect, test } from 'vitest';
import { compilePattern, MalformedPatternError } from '../../src/posting/pattern.ts';

test('finds groups by number, and absent ones as empty texts', () => {
  const pattern = compilePattern('(?i)pay: \\$(\\d+)(?:-(\\d+))?');
  expect(pattern.groups).toBe(2);
  expect(pattern.find('x PAY: $20-30 y')).toEqual({ kind: 'match', texts: ['PAY: $20-30', '20', '30'], start: 2 });
  expect(pattern.find('pay: $20')).toEqual({ kind: 'match', texts: ['pay: $20', '20', ''], start: 0 });
  expect(pattern.find('pay')).toEqual({ kind: 'none' });
});

test.each(['(a+)+$', '(a|a)*b', '(.*)(.*)(.*)(.*)(.*)(.*)x', '^(([a-z])+.)+[A-Z]([a-z])+$'])(
  'takes no exponential time: %s',
  (source) => {
    const pattern = compilePattern(source);
    // V8 would need more time than the universe has had.
    expect(pattern.find(`${'a'.repeat(20_000)}!`).kind).not.toBe('too long');
  },
);

test('refuses texts that are too long for the pattern', () => {
  expect(compilePattern('(a|b){200}').find('a'.repeat(1_000_000))).toEqual({ kind: 'too long' });
  expect(compilePattern('a').find(`${'b'.repeat(1_000_000)}a`).kind).toBe('match');
});

test.each([
  ['(a', 'is not a pattern: missing closing ): `(a`'],
  [
    '(?=a)',
    'is not a pattern: invalid or unsupported Perl syntax: `(?=`; look-ahead and look-behind are not supported',
  ],
  ['(a)\\1', 'is not a pattern: invalid escape sequence: `\\1`'],
  ['((a{100}){9}){1}\\pL{300}', /is too large \(\d+ steps, at most 1000\); repeat less in it/],
])('refuses %s', (source, message) => {
  expect(() => compilePattern(source)).toThrow(MalformedPatternError);
  expect(() => compilePattern(source)).toThrow(message);
});
