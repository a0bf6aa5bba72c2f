// Conditions on records: every test with a text, several texts and none, for rules and for skipping.
import { expect, test } from 'vitest';
import {
  type Condition,
  type ConditionGroups,
  compileConditions,
  type WithoutText,
} from '../../src/posting/conditions.ts';
import type { RecordTree } from '../../src/posting/posting.ts';

const holds = (conditions: ConditionGroups, record: RecordTree, withoutText: WithoutText = 'a denial holds') =>
  compileConditions(conditions, withoutText)(record);

const records = {
  open: { s: 'Open' },
  both: { s: ['closed', ' open '] },
  closed: { s: 'closed' },
  blank: { s: ' ' },
  none: {},
} as const;

/** For which of the records the condition holds, in a rule and for skipping. */
const cases: [test: Omit<Condition, 'path'>, rule: readonly (keyof typeof records)[], skip: readonly string[]][] = [
  [{ is: ['open'] }, ['open', 'both'], ['open', 'both']],
  [{ is: ['OPEN', 'closed'] }, ['open', 'both', 'closed'], ['open', 'both', 'closed']],
  [{ not: ['open'] }, ['closed', 'blank', 'none'], ['closed']],
  [{ exists: true }, ['open', 'both', 'closed'], ['open', 'both', 'closed']],
  [{ exists: false }, ['blank', 'none'], ['blank', 'none']],
  [{ exists: true, not: ['open'] }, ['closed'], ['closed']],
  [{ matches: '(?i)^o' }, ['open'], ['open']],
  [{ matches: 'pen' }, ['open', 'both'], ['open', 'both']],
  [{ notMatches: 'pen' }, ['closed', 'blank', 'none'], ['closed']],
];

test.each(cases)('%j', (condition, rule, skip) => {
  const of = (withoutText: WithoutText) =>
    Object.entries(records).flatMap(([name, record]) =>
      holds([[{ path: 's', ...condition }]], record, withoutText) ? [name] : [],
    );
  expect(of('a denial holds')).toEqual(rule);
  expect(of('nothing holds')).toEqual(skip);
});

test('all conditions of a group must hold, of several groups one', () => {
  const a = { path: 'a', is: ['1'] };
  const b = { path: 'b', is: ['1'] };
  expect(holds([[a, b]], { a: '1', b: '2' })).toBe(false);
  expect(holds([[a, b]], { a: '1', b: '1' })).toBe(true);
  expect(holds([[a], [b]], { a: '1', b: '2' })).toBe(true);
  expect(holds([], { a: '1' })).toBe(false);
});

test('a text too long for its pattern decides nothing, and costs no time', () => {
  const record = { s: 'a'.repeat(5_000_000) };
  const slow = '(a|aa)*(a|aa)*(a|aa)*$';
  expect(holds([[{ path: 's', matches: slow }]], record)).toBe(false);
  expect(holds([[{ path: 's', notMatches: slow }]], record)).toBe(false);
});
