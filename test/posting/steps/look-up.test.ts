// The step `map`, in a field with other steps, a default and a reviewer's edits.
import { describe, expect, test } from 'vitest';
import type { FieldRule } from '../../../src/posting/field-mapping.ts';
import { compileReader } from '../../../src/posting/reader.ts';
import { findContradiction, type LookUpStep } from '../../../src/posting/steps/step.ts';
import { fromPaths, sampleSpec } from '../sample-spec.ts';

const map = (table: Readonly<Record<string, string>>, otherwise: LookUpStep['otherwise'] = 'reject'): LookUpStep => ({
  kind: 'map',
  table: Object.entries(table),
  otherwise,
});

const readerOf = (rule: FieldRule) => compileReader(sampleSpec({ fields: { ...sampleSpec().fields, category: rule } }));
const record = (category: string) => ({ id: '1', title: 'Nurse', state: 'MA', category });

function categoryOf(rule: FieldRule, category: string) {
  const result = readerOf(rule).read(record(category));
  return result.kind === 'posting' ? result.posting.fields.category : result.kind;
}

const ops = { ops: 'Operations' };
test.each<[name: string, rule: FieldRule, text: string, category: string | undefined]>([
  ['finds an entry', { ...fromPaths('category'), as: [map(ops)] }, 'Ops', 'Operations'],
  ['ignores case and spaces', { ...fromPaths('category'), as: [map({ 'a  B': 'x' })] }, ' A b', 'x'],
  ['refuses a text without entry', { ...fromPaths('category'), as: [map(ops)] }, 'HR', 'invalid'],
  ['keeps it if told to', { ...fromPaths('category'), as: [map(ops, 'keep')] }, 'HR', 'HR'],
  ['uses the default', { ...fromPaths('category'), as: [map(ops, 'default')], default: 'Other' }, 'HR', 'Other'],
  ['does not look the default up', { ...fromPaths('category'), as: [map(ops)], default: 'Other' }, '', 'Other'],
  ['leaves the field out', { ...fromPaths('category'), as: [map({ ops: '' })] }, 'Ops', undefined],
  ['goes on with its result', { ...fromPaths('category'), as: [map(ops), 'upper'] }, 'Ops', 'OPERATIONS'],
  ['comes after other steps', { ...fromPaths('category'), as: ['text', map(ops)] }, '<b>Ops</b>', 'Operations'],
  ['knows no prototype', { ...fromPaths('category'), as: [map(ops)] }, 'constructor', 'invalid'],
])('%s', (_name, rule, text, category) => {
  expect(categoryOf(rule, text)).toBe(category);
});

describe('an edit', () => {
  const reader = readerOf({ ...fromPaths('category'), as: [map(ops)] });
  const read = reader.read({ ...record('HR'), state: 'Jalisco' });
  if (read.kind !== 'invalid') throw new Error('the posting is valid');
  const { posting, problems } = read;

  test('of another field leaves the refused text refused', () => {
    expect(problems.map(({ field }) => field)).toEqual(['location-state', 'category']);
    expect(reader.withFields(posting, { 'location-state': 'Texas' }, problems)).toMatchObject({
      kind: 'invalid',
      problems: [{ field: 'category', value: 'HR' }],
    });
  });

  test('with the same text changes nothing', () => {
    const edits = { 'location-state': 'Texas', category: 'HR' };
    expect(reader.withFields(posting, edits, problems)).toMatchObject({ problems: [{ field: 'category' }] });
  });

  test('may give a text that is not in the table', () => {
    const edits = { 'location-state': 'Texas', category: 'People' };
    expect(reader.withFields(posting, edits, problems)).toMatchObject({
      kind: 'posting',
      posting: { fields: { category: 'People' } },
    });
  });
});

test('a table that changes in any entry has another fingerprint', () => {
  const of = (table: Readonly<Record<string, string>>) => readerOf({ ...fromPaths('a'), as: [map(table)] }).fingerprint;
  expect(of(ops)).toBe(of({ ...ops }));
  expect(of(ops)).not.toBe(of({ ops: 'Ops' }));
});

test('finds entries that contradict each other', () => {
  expect(
    findContradiction([
      ['a', '1'],
      ['b', '2'],
      ['A ', '1'],
    ]),
  ).toBeUndefined();
  expect(
    findContradiction([
      ['a', '1'],
      ['b', '2'],
      ['A ', '2'],
    ]),
  ).toEqual(['a', 'A ']);
});
