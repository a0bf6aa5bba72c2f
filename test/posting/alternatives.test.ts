// A field with several rules: which one is used, and what is checked again when a reviewer edits the posting.
import { describe, expect, test } from 'vitest';
import type { FieldRule } from '../../src/posting/field-mapping.ts';
import { compileReader } from '../../src/posting/reader.ts';
import { fromPaths, sampleSpec } from './sample-spec.ts';

const only = (path: string, text: string) => ({ when: [[{ path, is: [text] }]] });
const readerOf = (...rules: readonly FieldRule[]) =>
  compileReader(sampleSpec({ fields: { ...sampleSpec().fields, pay: rules } }));
const nurse = { id: '1', title: 'Nurse', state: 'MA' };

const rules = [
  { ...only('kind', 'hourly'), ...fromPaths('pay', 'number') },
  { ...only('kind', 'text'), ...fromPaths('pay'), default: 'Ask' },
  { ...fromPaths('until', 'date') },
] as const;

describe('reading', () => {
  test.each<[name: string, record: object, pay: string | undefined]>([
    ['the first rule that applies', { kind: 'hourly', pay: '$20' }, '20'],
    ['the next one if it has no value', { kind: 'hourly', pay: ' ', until: '2026-01-02' }, '2026-01-02'],
    ['the last one if no condition holds', { kind: 'other', pay: '$20', until: '2026-01-02' }, '2026-01-02'],
    ['a default ends the search', { kind: 'text', until: '2026-01-02' }, 'Ask'],
    ['nothing', { kind: 'other' }, undefined],
  ])('%s', (_name, record, pay) => {
    const read = readerOf(...rules).read({ ...nurse, ...record });
    expect(read).toMatchObject({ kind: 'posting' });
    expect(read.kind === 'posting' && read.posting.fields.pay).toBe(pay);
  });

  test('a refused value is reported, not replaced by the next rule', () => {
    expect(readerOf(...rules).read({ ...nurse, kind: 'hourly', pay: 'much', until: '2026-01-02' })).toMatchObject({
      kind: 'invalid',
      problems: [{ field: 'pay', value: 'much' }],
    });
  });
});

describe('an edited posting', () => {
  const reader = readerOf(fromPaths('pay', 'number'), fromPaths('until', 'date'));
  const read = reader.read({ ...nurse, pay: 'much' });
  if (read.kind !== 'invalid') throw new Error('the posting is valid');

  test('keeps the problem of the field unless that field is edited', () => {
    expect(reader.withFields(read.posting, { title: 'Cook' }, read.problems)).toMatchObject({ kind: 'invalid' });
    expect(reader.withFields(read.posting, { pay: '$30' }, read.problems)).toMatchObject({
      kind: 'posting',
      posting: { fields: { pay: '30' } },
    });
  });

  test('may have a value of any of the rules', () => {
    expect(reader.withFields(read.posting, { pay: '2 Jan 2026' }, read.problems)).toMatchObject({
      kind: 'posting',
      posting: { fields: { pay: '2026-01-02' } },
    });
    expect(reader.withFields(read.posting, { pay: 'soon' }, read.problems)).toMatchObject({
      problems: [{ field: 'pay', value: 'soon' }],
    });
  });
});
