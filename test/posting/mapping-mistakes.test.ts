// Likely mistakes of a mapping, found in samples of records.
import { describe, expect, it } from 'vitest';
import type { Condition } from '../../src/posting/conditions.ts';
import type { FieldRules, ValueSource } from '../../src/posting/field-mapping.ts';
import { mappingMistakes } from '../../src/posting/paths/mapping-mistakes.ts';
import { PathCensus } from '../../src/posting/paths/path-census.ts';
import type { RecordTree } from '../../src/posting/posting.ts';

const from = (...paths: string[]): FieldRules => ({ source: { kind: 'paths', paths }, as: [] });
const rule = (source: ValueSource): FieldRules => ({ source, as: [] });

const RECORD = {
  '@id': '7',
  title: 'Nurse',
  description: 'Cares',
  location: { city: 'Salem', state: 'Oregon', note: '' },
  tags: [{ name: 'a' }, { name: 'b' }],
  'City/State': 'Salem, Oregon',
  'hr:level': 'senior',
};

function mistakes(
  fields: Readonly<Record<string, FieldRules>>,
  { key = ['@id'], own, records = [RECORD] }: { key?: string[]; own?: string[]; records?: RecordTree[] } = {},
): readonly string[] {
  const census = new PathCensus({ key: { paths: key }, fields });
  for (const record of records) census.add(record);
  return mappingMistakes({ fields }, census, new Set(own ?? Object.keys(fields)));
}

describe('paths that no record has', () => {
  it.each([
    ['a mistyped name', from('descripton'), 'did you mean "description"?'],
    ['another case', from('Title'), 'did you mean "title"?'],
    ['a name below another element', from('state'), 'did you mean "location/state"?'],
    ['a wrong element above', from('place/city'), 'did you mean "location/city"?'],
    ['a name that needs quotes', from("'City/Stat'"), `did you mean "'City/State'"?`],
    [
      'a path in a template',
      rule({ kind: 'template', template: '{location/citty}, {location/state}' }),
      '"location/city"?',
    ],
    [
      'a path in a section, relative to its element',
      rule({ kind: 'sections', sections: [{ each: 'tags', templates: ['{nam}'] }], join: ' ' }),
      'did you mean "tags/name"?',
    ],
  ])('%s', (_what, rules, expected) => {
    const [only, ...others] = mistakes({ field: rules });
    expect(only).toMatch(/^fields\.field: ".*" is always empty in the only record that was read; /);
    expect(only).toContain(expected);
    expect(others).toEqual([]);
  });

  it('is compared with no name that is as long as a record', () => {
    const records = [Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`${at}`.padEnd(20_000, 'x'), 'a']))];
    const text = mistakes({ salary: from('compensation'), city: from('place/city') }, { key: [], records });
    expect(text).toEqual([
      'fields.salary: "compensation" is always empty in the only record that was read; it has no text at all',
      'fields.city: "place/city" is always empty in the only record that was read; it has no text at all',
    ]);
  });

  it('names what the records have if nothing is similar', () => {
    expect(mistakes({ salary: from('compensation') }, { records: [RECORD, RECORD] })).toEqual([
      'fields.salary: "compensation" is always empty in the 2 records that were read; ' +
        `they have "@id", "title", "description", "location/city", "location/state", "tags/name", "'City/State'", "level"`,
    ]);
  });

  it('reports the key', () => {
    expect(mistakes({}, { key: ['id'] })).toEqual([
      'key: "id" is always empty in the only record that was read; did you mean "@id"?',
    ]);
  });
});

describe('says nothing', () => {
  it.each([
    ['about paths with a text', from('title')],
    ['about elements that are there, but empty', from('location/note')],
    ['about names without their prefix', from('level')],
    ['about texts and expressions', rule({ kind: 'constant', value: 'x' })],
    ['about alternatives of which one has a text', from('headline', 'title')],
  ])('%s', (_what, rules) => {
    expect(mistakes({ field: rules })).toEqual([]);
  });

  it('about what a preset provides for and the feed lacks, unless a name is similar', () => {
    expect(mistakes({ salary: from('compensation') }, { own: [] })).toEqual([]);
    expect(mistakes({ text: from('descripton', 'summary') }, { own: [] })).toEqual([
      'fields.text: "descripton" is always empty in the only record that was read; did you mean "description"?',
    ]);
    expect(mistakes({ text: from('descripton', 'title') }, { own: [] })).toEqual([]);
    // `title` is used already.
    expect(mistakes({ name: from('title'), other: from('titel') }, { own: [] })).toEqual([]);
  });

  it('without any record', () => {
    expect(mistakes({ field: from('nowhere') }, { records: [] })).toEqual([]);
  });
});

it('a misspelt path of a list to sort is named', () => {
  const spec = { key: { paths: ['@id'] }, fields: {}, unordered: ['place', 'places/names', 'text/more'] };
  const census = new PathCensus(spec);
  census.add({ '@id': '1', places: [{ name: 'a' }, { name: 'b' }], empty: [] });
  expect(mappingMistakes(spec, census, new Set(), 'text')).toEqual([
    'unordered: "place" is always empty in the only record that was read; did you mean "places"?',
    'unordered: "places/names" is always empty in the only record that was read; did you mean "places/name"?',
  ]);
  census.add({ place: '1', places: { names: ['a'] } });
  expect(mappingMistakes(spec, census, new Set(), 'text')).toEqual([]);
});

describe('the path of places', () => {
  const placeMistakes = (path: string): readonly string[] => {
    const spec = { key: { paths: ['@id'] }, fields: {}, places: { path, use: 'first' } as const };
    const census = new PathCensus(spec);
    census.add(RECORD);
    return mappingMistakes(spec, census, new Set());
  };

  it.each(['location', 'tags', 'tags/name', '*/city', 'location[city=Salem]'])('%s has a place', (path) => {
    expect(placeMistakes(path)).toEqual([]);
  });

  it.each([
    ['locations', 'did you mean "location"?'],
    ['tag/name', 'did you mean "tags/name"?'],
    ['offices', 'it has "@id", "title"'],
  ])('%s has none: %s', (path, expected) => {
    const [only, ...others] = placeMistakes(path);
    expect(only).toContain(`places.path: "${path}" is always empty in the only record that was read; ${expected}`);
    expect(others).toEqual([]);
  });
});

it('a key that is made of what pages state about themselves', () => {
  const stated = { page: { address: 'https://acme.example/1', stated: 'true' }, title: 'Nurse' };
  const requested = { page: { address: 'https://acme.example/1' }, title: 'Nurse' };
  const fields = { title: from('title') };
  const key = ['page/address'];
  expect(mistakes(fields, { key, records: [stated] })).toEqual([
    expect.stringMatching(
      /^key: "page\/address" is what pages state .*every job is created again; .*identifier\/value$/,
    ),
  ]);
  expect(mistakes(fields, { key, records: [requested] })).toEqual([]);
  expect(mistakes(fields, { key: ['title'], records: [stated] })).toEqual([]);
});

describe('conditions on dates', () => {
  const found = (condition: Omit<Condition, 'olderThan'>, records: RecordTree[], isSkipped = false) => {
    const fields = { title: from('title') };
    const census = new PathCensus({ key: { paths: ['@id'] }, fields, skip: [[{ olderThan: 1, ...condition }]] });
    for (const record of records) {
      census.addDates(record);
      if (!isSkipped) census.add(record);
    }
    return mappingMistakes({ fields }, census, new Set());
  };
  const posted = (text: string) => ({ ...RECORD, posted: text });

  it('are warned of with the number of records whose texts are no dates, and an example', () => {
    const records = [posted('2026-01-01'), posted('31.12.2026'), posted('1/2/2026'), RECORD];
    const inAll = 'in 2 of the 4 records that were read, so that conditions on dates do not hold there';
    expect(found({ path: 'posted' }, records)).toEqual([
      `skip: "posted" is no date ${inAll}: "31.12.2026" is not a recognised date; dates such as 4/8/2012 need an order`,
    ]);
    expect(found({ path: 'posted', order: 'month first' }, [posted('31.12.2026')], true)).toEqual([
      'skip: "posted" is no date in the only record that was read, so that conditions on dates do not hold there: "31.12.2026" is not a recognised date; check its order of day and month',
    ]);
  });

  it('are not warned of for dates that stand for none, and for records without a date', () => {
    expect(found({ path: 'posted' }, [posted('0001-01-01'), posted('1970-01-01'), RECORD])).toEqual([]);
    expect(found({ path: 'closes' }, [RECORD])).toEqual([]);
  });

  it('are warned of if another path may be meant, which no field has', () => {
    expect(found({ path: 'postd' }, [posted('2026-01-01')])).toEqual([
      'skip: "postd" is always empty in the only record that was read; did you mean "posted"?',
    ]);
    expect(found({ path: 'titles' }, [RECORD])).toEqual([]);
  });
});

describe('keys that a program has shortened', () => {
  it.each(['1.23457E+11', '1.23456789012346E+016', '1e+05', ' 2E+05 '])('%s', (id) => {
    const [only, ...others] = mistakes(
      { title: from('title') },
      {
        key: ['id'],
        records: [
          { ...RECORD, id },
          { ...RECORD, id: '7' },
        ],
      },
    );
    expect(only).toContain(
      `key: 1 of the 2 records that were read has a number that a program shortened, such as "${id.trim()}"`,
    );
    expect(others).toEqual([]);
  });

  it.each(['1e5', 'E+5', '123456789012', '12E+5x', '1.5'])('not %s', (id) => {
    expect(mistakes({ title: from('title') }, { key: ['id'], records: [{ ...RECORD, id }] })).toEqual([]);
  });
});

describe('what programs have lost of keys and values', () => {
  const lost = (ids: readonly string[], more: RecordTree = {}): readonly string[] =>
    mistakes(
      { title: from('title') },
      { key: ['id'], records: ids.map((id) => ({ ...(RECORD as object), ...(more as object), id })) },
    );
  const joined = 'so that different references may have become one; export the column as text';

  it.each([
    // As LibreOffice, Gnumeric, R, readr, in2csv, xlsx2csv, pandas and Java wrote them (docs/real-parts.md).
    ['15 digits and zeros', ['12345678901234500', '12345678901234600', '22345678901234500'], 'to have rounded'],
    ['16 digits and a zero', ['12345678901234570', '12345678901234580', '22345678901234560'], 'to have rounded'],
    ['15 of 16 digits', ['1234567890123450', '1234567890123460', '9234567890123470'], 'to have rounded'],
    ['numbers of a double', ['1234567890123456768', '1234567890123457024', '1234567890123457280'], 'to have rounded'],
    ['an exponent among numbers', ['100000', '2e7', '1234567'], 'a number that a program shortened, such as "2e7"'],
    ['an exponent of Java', ['1.0E7', 'a7'], 'a number that a program shortened, such as "1.0E7"'],
    ['decimals', ['7.0', '100000.0'], 'a number with decimals, such as "7.0"'],
    ['more decimals', ['12345678901234570.000000', '7.000000'], 'a number with decimals'],
    ['dates', ['2001-10-01', '2001-01-02'], 'a date, such as "2001-10-01"'],
    ['dates with a time', ['2026-10-01 00:00:00', '2026-10-02T00:00:00'], 'a date, such as "2026-10-01 00:00:00"'],
    ['a date as it is shown', ['10-Jan', 'a7'], 'a date, such as "10-Jan"'],
    ['an error', ['#N/A', 'a7'], 'the error of a formula, such as "#N/A"'],
  ])('%s', (_, ids, what) => {
    const [only, ...others] = lost(ids);
    expect(only).toMatch(/^key: /);
    expect(only).toContain(what);
    expect(others).toEqual([]);
  });

  it.each([
    ['numbers of 17 digits', ['12345678901234567', '12345678901234569', '12345678901234571']],
    ['only two that end in a zero', ['12345678901234570', '12345678901234580']],
    ['numbers of a time and a counter', ['1790847000000069632', '1790847004194373632', '1790847012582981632']],
    ['hexadecimal digits', ['1e5', '2e7', '7a1']],
    ['a single exponent', ['1e5']],
    ['versions', ['1.0', '1.1']],
    ['a date among others', ['2026-10-01', '2026-10-01-b']],
    ['10-1', ['10-1', '3-4']],
  ])('not %s', (_, ids) => {
    expect(lost(ids)).toEqual([]);
  });

  it('says what became of references that were rounded', () => {
    expect(lost(['12345678901234500', '12345678901234600', '22345678901234500'])).toEqual([
      `key: the 3 records that were read have a number that a program seems to have rounded, such as "12345678901234500", ${joined}`,
    ]);
  });

  it.each(['#NAME?', 'Err:508', '[object Object]'])('of a title: %s', (title) => {
    const records = [{ ...RECORD, title }, RECORD];
    expect(mistakes({ title: from('title') }, { records })).toEqual([
      expect.stringMatching(/^fields\.title: 1 of the 2 records that were read has .*, such as "/),
    ]);
  });

  it('not of a part of a key: a date tells postings of one title apart', () => {
    const records = ['2026-10-01', '2026-10-02'].map((posted) => ({ ...RECORD, posted }));
    expect(mistakes({ title: from('title') }, { key: ['title', 'posted'], records })).toEqual([]);
  });
});
