// The postings of a record's places, and their keys: made of the place alone, whatever else is in the record.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FieldMapping } from '../../src/posting/field-mapping.ts';
import { MAX_KEY_LENGTH, PLACE_KEY_LENGTH } from '../../src/posting/identifiers.ts';
import type { RecordTree } from '../../src/posting/posting.ts';
import { compileReader } from '../../src/posting/reader.ts';
import { fromPaths, sampleSpec } from './sample-spec.ts';

function specOf(changes: Partial<FieldMapping> = {}): FieldMapping {
  return sampleSpec({
    key: { paths: ['id'], ofPlaces: true },
    places: { path: 'place', use: 'each', fields: ['location-city', 'location-state'] },
    fields: {
      title: fromPaths('title'),
      'location-city': fromPaths('place/city'),
      'location-state': fromPaths('place/state'),
    },
    ...changes,
  });
}

function read(record: RecordTree, changes: Partial<FieldMapping> = {}) {
  const result = compileReader(specOf(changes)).read(record);
  if (result.kind !== 'places') throw new Error(JSON.stringify(result));
  return result;
}

const keysOf = (place: RecordTree, id = '7', changes: Partial<FieldMapping> = {}) =>
  read({ id, title: 'Nurse', place }, changes).postings.map(({ posting }) => posting.key);

const BOSTON = { city: 'Boston', state: 'MA' };
const CHICAGO = { city: 'Chicago', state: 'Illinois' };

describe('keys', () => {
  it.each<[string, RecordTree, string[]]>([
    ['one place', BOSTON, ['7|boston, ma']],
    ['several', [BOSTON, CHICAGO], ['7|boston, ma', '7|chicago, il']],
    ['repeated ones', [BOSTON, { city: ' BOSTON.', state: 'Mass.' }], ['7|boston, ma']],
    ['accents', { city: 'San José', state: 'CA' }, ['7|san jose, ca']],
    ['no city', { state: 'MA' }, ['7|, ma']],
    ['no state', { city: 'Boston' }, ['7|boston,']],
    ['no valid state', { city: 'Toronto', state: 'Ontario' }, ['7|toronto, ontario']],
    ['separators', { city: 'A|B, C%7C', state: 'MA' }, ['7|a b c 7c, ma']],
  ])('%s', (_, place, keys) => {
    expect(keysOf(place)).toEqual(keys);
  });

  it('of a record without a place at the path end with the place of the whole record', () => {
    const fields = { title: fromPaths('title'), 'location-state': fromPaths('home') };
    const result = read({ id: '7', title: 'Nurse', home: 'Ohio' }, { fields: { ...specOf().fields, ...fields } });
    expect(result.postings.map(({ kind, posting }) => [kind, posting.key])).toEqual([['posting', '7|, oh']]);
  });

  it('do not depend on how the site writes states', () => {
    const stateField = { name: 'location-state', values: 'abbreviation', allow: ['states'] } as const;
    expect(keysOf([BOSTON, CHICAGO], '7', { stateField })).toEqual(keysOf([BOSTON, CHICAGO]));
  });

  it('have a bounded length, and differ for long places that begin alike', () => {
    const long = (end: string) => ({ city: `${'𝒳y '.repeat(200)}${end}`, state: 'MA' });
    const keys = keysOf([long('a'), long('b')], 'k'.repeat(MAX_KEY_LENGTH - PLACE_KEY_LENGTH - 1));
    expect(new Set(keys).size).toBe(2);
    for (const key of keys) {
      expect(key.length).toBeLessThanOrEqual(MAX_KEY_LENGTH);
      expect(key.isWellFormed()).toBe(true);
    }
    const tooLong = compileReader(specOf()).read({ id: 'k'.repeat(MAX_KEY_LENGTH), title: 'Nurse', place: BOSTON });
    expect(tooLong).toMatchObject({
      kind: 'unreadable',
      problems: [{ message: expect.stringContaining('longer than') }],
    });
  });

  it('of different records never meet, and begin with that of their record', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', '|', '%', '7', 'C', ',', ' '),
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(
        text,
        text,
        fc.array(text, { minLength: 1 }),
        fc.array(text, { minLength: 1 }),
        (one, other, here, there) => {
          fc.pre(one.trim() !== '' && other.trim() !== '' && one.trim() !== other.trim());
          const placesOf = (cities: readonly string[]) => cities.map((city) => ({ city, state: 'MA' }));
          const first = read({ id: one, title: 'x', place: placesOf(here) });
          const second = read({ id: other, title: 'x', place: placesOf(there) });
          const keys = second.postings.map(({ posting }) => posting.key);
          for (const { posting } of first.postings) {
            expect(keys).not.toContain(posting.key);
            expect(posting.key.replace(/[^|]*$/, '')).toBe(first.key);
          }
        },
      ),
    );
  });

  it('survive any order of the places, and others among them', () => {
    const place = fc.record({
      city: fc.constantFrom('Boston', 'boston', 'Salem', 'Oslo', ''),
      state: fc.constantFrom('MA', 'OR', '?'),
    });
    fc.assert(
      fc.property(
        fc.array(place, { minLength: 1, maxLength: 8 }),
        fc.array(place, { maxLength: 4 }),
        (places, more) => {
          const keys = keysOf(places);
          expect(keysOf(places.toReversed()).toSorted()).toEqual(keys.toSorted());
          expect(keysOf([...more, ...places])).toEqual(expect.arrayContaining(keys));
        },
      ),
    );
  });
});

describe('a record is unclear', () => {
  it.each<[string, RecordTree, boolean]>([
    ['of places in valid states', [BOSTON, CHICAGO], false],
    ['if one is in no valid state', [BOSTON, { city: 'Toronto', state: 'Ontario' }], true],
  ])('%s: %j', (_, place, isUnclear) => {
    expect(read({ id: '7', title: 'Nurse', place }).isUnclear).toBe(isUnclear);
  });

  it('but not if something else is wrong with its postings', () => {
    const result = read({ id: '7', place: [BOSTON, CHICAGO] });
    expect([result.isUnclear, ...result.postings.map(({ kind }) => kind)]).toEqual([false, 'invalid', 'invalid']);
  });
});

it('with more than a thousand places, a record is unreadable, with its own key', () => {
  const place = Array.from({ length: 10_000 }, (_, at) => ({ city: `c${at}`, state: 'MA' }));
  expect(compileReader(specOf()).read({ id: '7', title: 'Nurse', place })).toEqual({
    kind: 'unreadable',
    key: '7|',
    problems: [{ message: 'the record has more than 1000 places at place; check the path of places' }],
  });
});
