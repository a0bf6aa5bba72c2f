// Fields of which most values stand for nothing.
import { describe, expect, it } from 'vitest';
import type { FieldMapping, FieldRules } from '../../src/posting/field-mapping.ts';
import { PlaceholderCensus } from '../../src/posting/placeholders.ts';
import type { RecordTree } from '../../src/posting/posting.ts';
import { compileReader } from '../../src/posting/reader.ts';
import { fromPaths, sampleSpec } from './sample-spec.ts';

type Rules = FieldMapping['fields'];

function mistakes(fields: Rules, records: readonly object[]): readonly string[] {
  const spec = sampleSpec({ fields, requiredFields: [] });
  const census = new PlaceholderCensus(spec);
  const reader = compileReader(spec);
  for (const [at, record] of records.entries()) {
    const tree = { id: `${at}`, ...record } as RecordTree;
    const read = reader.read(tree);
    if ('posting' in read) census.add(tree, read.posting.fields);
  }
  return census.mistakes();
}

const column = (field: string, values: readonly string[], rules: FieldRules = fromPaths('value')): readonly string[] =>
  mistakes(
    { [field]: rules },
    values.map((value) => ({ value })),
  );

const mostly = (value: string): string[] => [value, 'Other', value, value, 'Another'];

describe('most values stand for nothing', () => {
  it.each([
    ['category-name', 'TBD'],
    ['category-name', 'Not specified'],
    ['category-name', 'NA'],
    ['location-city', '-'],
    ['location-city', '--'],
    ['location-city', 'unknown'],
    ['description', '...'],
    ['level', 'Unspecified'],
    ['level', '(blank)'],
    ['salary', '0'],
    ['salary-min', '0.00'],
    ['zip', '00000'],
    ['phone', '000-000-0000'],
    ['location-city', '0'],
    ['posted-on', '1970-01-01'],
    ['posted-on', '1970-01-01T00:00:00Z'],
    ['posted-on', '0000-00-00 00:00:00'],
    ['posted-on', '00/00/0000'],
    ['posted-on', '0001-01-01T00:00:00'],
    ['posted-on', '1/1/1900'],
    ['posted-on', 'Thu, 01 Jan 1970 00:00:00 GMT'],
    ['contact-web-address', 'http://'],
  ])('%s: %s', (field, value) => {
    const [only, ...others] = column(field, mostly(value));
    expect(only).toContain(`fields.${field}: "${value}" is the value in 3 of the 5 records that were read`);
    expect(only).toContain(`to leave it out: ${field}: { from: value, when: { value: { not: `);
    expect(others).toEqual([]);
  });

  it('and is left out by what the sentence says', () => {
    const [sentence = ''] = column('level', mostly('TBD'));
    expect(sentence).toMatch(/level: \{ from: value, when: \{ value: \{ not: TBD \} \} \}$/);
    const when = [[{ path: 'value', not: ['TBD'] }]];
    expect(column('level', mostly('TBD'), { ...fromPaths('value'), when })).toEqual([]);
  });

  it('several of them together', () => {
    expect(column('level', ['TBD', 'tbd', '-', 'Senior', 'unknown'])).toEqual([
      'fields.level: "TBD", "-" or "unknown" is the value in 4 of the 5 records that were read, and seems to stand for nothing; ' +
        'to leave it out: level: { from: value, when: { value: { not: [TBD, "-", unknown] } } }',
    ]);
  });

  it('and a step has made it of another text', () => {
    const match = { kind: 'match', pattern: '^(\\S+)', take: '{1}', otherwise: 'default' } as const;
    const [sentence] = column('level', mostly('TBD yet'), { ...fromPaths('value'), as: [match] });
    expect(sentence).toMatch(
      /: "TBD" is .*; to leave it out, add when: \{ value: \{ not: TBD yet \} \} to the rule of level that reads "value"$/,
    );
  });

  it('of one of several rules or paths', () => {
    const [sentence] = column('level', mostly('TBD'), fromPaths(['grade', 'value']));
    expect(sentence).toMatch(
      /; to leave it out, add when: \{ value: \{ not: TBD \} \} to the rule of level that reads "value"$/,
    );
  });

  it('although no field gets the word', () => {
    expect(column('category-name', mostly('N/A'))).toEqual([
      'fields.category-name: "value" is "N/A" in 3 of the 5 records that were read, which counts as no value, so the field is left out there; ' +
        'take another path if the records have one, or set a default',
    ]);
    expect(column('category-name', mostly('None'), { ...fromPaths('value'), default: 'Other' })).toEqual([]);
  });
});

describe('says nothing', () => {
  it.each([
    ['category-name', 'Health'],
    ['category-name', 'Other'],
    ['location-state', 'Texas'],
    ['employment-type', 'Full-time'],
    ['remote', 'false'],
    ['remote', '0'],
    ['show-salary', '0'],
    ['vacancies', '0'],
    ['years-of-experience', '0'],
    ['region', 'NA'],
    ['clearance', 'None'],
    ['salary', 'Negotiable'],
    ['salary', 'N/A'],
    ['contact-email-address', 'false'],
    ['description', 'false'],
    ['posted-on', '2026-01-01'],
    ['level', 'A'],
  ])('about %s: %s', (field, value) => {
    expect(column(field, mostly(value))).toEqual([]);
    expect(column(field, [value, value, value, value])).toEqual([]);
  });

  it.each([
    ['less than half', ['TBD', 'TBD', 'TBD', 'a', 'b', 'c', 'd']],
    ['two records', ['TBD', 'TBD']],
  ])('about %s', (_what, values) => {
    expect(column('category-name', values)).toEqual([]);
  });

  it('about a value that the configuration names', () => {
    const values = ['a', 'b', 'c'];
    const map = { kind: 'map', table: [['a', 'TBD']], otherwise: 'default' } as const;
    expect(column('level', values, { source: { kind: 'constant', value: 'TBD' }, as: [] })).toEqual([]);
    expect(column('level', values, { ...fromPaths('nowhere'), default: 'TBD' })).toEqual([]);
    expect(column('level', ['a', 'a', 'a'], { source: { kind: 'paths', paths: ['value'] }, as: [map] })).toEqual([]);
  });
});
