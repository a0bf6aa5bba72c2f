// A record with several places: read as if it had only one of them.
import { describe, expect, it } from 'vitest';
import type { FieldMapping } from '../../src/posting/field-mapping.ts';
import { MalformedPathError } from '../../src/posting/paths/value-path.ts';
import { compilePlaces, MOST_PLACES, type PlacesRule } from '../../src/posting/places.ts';
import type { RecordTree } from '../../src/posting/posting.ts';
import { compileReader } from '../../src/posting/reader.ts';
import { fromPaths, sampleSpec } from './sample-spec.ts';

const BOSTON = { city: 'Boston', state: 'MA' };
const CHICAGO = { city: 'Chicago', state: 'IL' };
const TORONTO = { city: 'Toronto', state: 'Ontario' };

function specOf(places: PlacesRule, more: Partial<FieldMapping> = {}): FieldMapping {
  return sampleSpec({
    places,
    fields: {
      title: fromPaths('title'),
      'location-city': fromPaths('places/place/city'),
      'location-state': fromPaths('places/place/state', 'us_state'),
    },
    ...more,
  });
}

const recordOf = (places: RecordTree, title = 'Nurse'): RecordTree => ({ id: '7', title, places: { place: places } });

function readWith(use: PlacesRule['use'], places: RecordTree, title?: string) {
  const result = compileReader(specOf({ path: 'places/place', use })).read(recordOf(places, title));
  if (!('posting' in result)) throw new Error(result.kind);
  const problems = result.kind === 'invalid' ? result.problems.map(({ field, message }) => `${field}: ${message}`) : [];
  return { fields: { ...result.posting.fields }, problems, posting: result.posting, result };
}

describe('the trees of a record', () => {
  const treesOf = (path: string, record: RecordTree, split?: string) => compilePlaces({ path, split })(record);

  it.each<[string, string, RecordTree, string | undefined, RecordTree[]]>([
    ['elements', 'places/place', recordOf([BOSTON, CHICAGO]), undefined, [recordOf(BOSTON), recordOf(CHICAGO)]],
    ['one element', 'places/place', recordOf(BOSTON), undefined, [recordOf(BOSTON)]],
    ['no element', 'places/place', { id: '7' }, undefined, []],
    ['texts', 'place', { place: ['a', 'b'] }, undefined, [{ place: 'a' }, { place: 'b' }]],
    ['lists within lists', 'place', { place: [['a'], [['b']]] }, undefined, [{ place: 'a' }, { place: 'b' }]],
    ['parts of a text', 'place', { place: 'a; b ;; c' }, ';', [{ place: 'a' }, { place: 'b' }, { place: 'c' }]],
    [
      'parts of a text with attributes',
      'place',
      { place: { '@id': '1', '#text': 'a|b' } },
      '|',
      [{ place: { '@id': '1', '#text': 'a' } }, { place: { '@id': '1', '#text': 'b' } }],
    ],
    [
      'only where a condition holds',
      'place[country=US]',
      {
        place: [
          { country: 'US', at: 'a' },
          { country: 'CA', at: 'b' },
          { country: 'US', at: 'c' },
        ],
      },
      undefined,
      [{ place: { country: 'US', at: 'a' } }, { place: { country: 'US', at: 'c' } }],
    ],
    [
      'several lists',
      'a/b',
      {
        a: [
          { b: ['1', '2'], c: 'x' },
          { b: '3', c: 'y' },
        ],
      },
      undefined,
      [{ a: { b: '1', c: 'x' } }, { a: { b: '2', c: 'x' } }, { a: { b: '3', c: 'y' } }],
    ],
    [
      'any name',
      'places/*',
      { places: { home: 'a', away: 'b' } },
      undefined,
      [{ places: { home: 'a' } }, { places: { away: 'b' } }],
    ],
    ['a prefixed name', 'place', { 'x:place': ['a', 'b'] }, undefined, [{ 'x:place': 'a' }, { 'x:place': 'b' }]],
  ])('%s', (_, path, record, split, trees) => {
    expect(JSON.parse(JSON.stringify(treesOf(path, record, split)))).toEqual(trees);
  });

  it('are limited in number, and leave the record as it is', () => {
    const record = recordOf(Array.from({ length: 10_000 }, (_, at) => ({ city: `c${at}`, state: 'MA' })));
    const before = JSON.stringify(record);
    expect(treesOf('places/place', record)).toHaveLength(MOST_PLACES + 1);
    expect(JSON.stringify(record)).toBe(before);
  });

  it('survive lists nested deeper than the stack', () => {
    let nested: RecordTree = 'a';
    for (let depth = 0; depth < 100_000; depth++) nested = [nested];
    expect(treesOf('place', { place: nested })).toEqual([{ place: 'a' }]);
  });

  it('need a valid path', () => {
    expect(() => compilePlaces({ path: 'a//b' })).toThrow(MalformedPathError);
  });
});

describe('the first place', () => {
  it.each([
    [[BOSTON, CHICAGO], 'Boston', 'Massachusetts'],
    [[TORONTO, CHICAGO, BOSTON], 'Chicago', 'Illinois'],
    [[{ city: '', state: '' }, BOSTON], 'Boston', 'Massachusetts'],
    [BOSTON, 'Boston', 'Massachusetts'],
  ])('%j: %s', (places, city, state) => {
    const { fields, problems } = readWith('first', places as RecordTree);
    expect(fields).toEqual({ title: 'Nurse', 'location-city': city, 'location-state': state });
    expect(problems).toEqual([]);
  });

  it('is in a valid state even if something else is wrong with the posting', () => {
    const { fields, problems } = readWith('first', [TORONTO, CHICAGO], ' ');
    expect(fields['location-city']).toBe('Chicago');
    expect(problems).toEqual(['title: title is missing; the site requires it']);
  });

  it('does not exist: the posting is rejected for all of them', () => {
    const { problems } = readWith('first', [TORONTO, { city: 'Paris', state: 'France' }]);
    expect(problems).toEqual([
      expect.stringMatching(
        /^location-state: none of its places is in a state that the site accepts; the first one: "Ontario"/,
      ),
    ]);
  });

  it('is not searched among more than a thousand', () => {
    const { problems } = readWith(
      'first',
      Array.from({ length: 10_000 }, () => BOSTON),
    );
    expect(problems).toEqual([
      'location-state: the record has more than 1000 places at places/place; check the path of places',
    ]);
  });

  it('is found by expressions too', async () => {
    const spec = specOf(
      { path: 'places/place', use: 'first' },
      {
        fields: {
          title: { source: { kind: 'jsonata', expression: 'title & " in " & places.place.city' }, as: [] },
          'location-state': fromPaths('places/place/state', 'us_state'),
        },
      },
    );
    const reader = compileReader(spec);
    const record = recordOf([TORONTO, BOSTON]);
    await reader.prepare?.(record);
    expect(reader.read(record)).toMatchObject({ kind: 'posting', posting: { fields: { title: 'Nurse in Boston' } } });
  });
});

describe('review', () => {
  it('is not needed if the places have the same fields', () => {
    expect(readWith('review', [BOSTON, { ...BOSTON, street: 'Elm' }]).problems).toEqual([]);
  });

  it('lists the values of each field that differs, until a person edits all of them', () => {
    const { fields, problems, posting, result } = readWith('review', [BOSTON, CHICAGO, CHICAGO]);
    expect(fields).toEqual({
      title: 'Nurse',
      'location-city': 'Boston; Chicago',
      'location-state': 'Massachusetts; Illinois',
    });
    expect(problems).toEqual([
      'location-city: location-city differs between the 3 places of the posting (Boston; Chicago); set it to the one to be sent',
      'location-state: location-state differs between the 3 places of the posting (Massachusetts; Illinois); set it to the one to be sent',
    ]);
    const reader = compileReader(specOf({ path: 'places/place', use: 'review' }));
    const found = result.kind === 'invalid' ? result.problems : [];
    expect(reader.withFields(posting, { 'location-state': 'IL' }, found)).toMatchObject({
      kind: 'invalid',
      problems: [{ field: 'location-city' }],
    });
    expect(reader.withFields(posting, { 'location-state': 'IL', 'location-city': 'Chicago' }, found)).toMatchObject({
      kind: 'posting',
      posting: { fields: { 'location-state': 'Illinois', 'location-city': 'Chicago' } },
    });
  });

  it('also lists what else is wrong', () => {
    const { problems } = readWith('review', [BOSTON, CHICAGO], ' ');
    expect(problems).toHaveLength(3);
    expect(problems.at(-1)).toContain('title is missing');
  });

  it('shows a bounded number of values', () => {
    const { fields } = readWith(
      'review',
      Array.from({ length: 500 }, (_, at) => ({ city: `c${at}`, state: 'MA' })),
    );
    expect(fields['location-city']).toMatch(/^c0; c1; .*; and 480 more$/);
  });
});
