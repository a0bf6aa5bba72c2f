import { describe, expect, test } from 'vitest';
import type { StateField } from '../../src/posting/field-mapping.ts';
import { compileStates, STATE_GROUPS } from '../../src/posting/places.ts';
import { compileStateField } from '../../src/posting/site-rules.ts';
import { stateTable } from './sample-spec.ts';

const reader = (changes: Partial<StateField> = {}) =>
  compileStateField({ name: 'location-state', values: 'name', allow: ['states', 'dc'], ...changes }, stateTable);

describe('the table', () => {
  test('holds 50 states, D.C. and five territories', () => {
    const counts = STATE_GROUPS.map((group) => stateTable.states.filter((state) => state.group === group).length);
    expect(counts).toEqual([50, 1, 5]);
  });

  test('is refused if two states share a spelling', () => {
    const states = [
      ...stateTable.states,
      { name: 'Massive', abbreviation: 'MX', group: 'states', aliases: ['MASS'] } as const,
    ];
    expect(() => compileStates({ ...stateTable, states })).toThrow(
      /"mass" is a spelling of both Massachusetts and Massive/,
    );
  });
});

describe('accepted spellings', () => {
  const cases: [written: string, name: string][] = [
    ['Massachusetts', 'Massachusetts'],
    ['MA', 'Massachusetts'],
    ['ma', 'Massachusetts'],
    ['Mass.', 'Massachusetts'],
    ['US-MA', 'Massachusetts'],
    ['us_ma', 'Massachusetts'],
    ['US-MA, US', 'Massachusetts'],
    ['USA - Texas, United States', 'Texas'],
    ['  massachusetts ', 'Massachusetts'],
    ['MASSACHUSETTS', 'Massachusetts'],
    ['Massachusetts, USA', 'Massachusetts'],
    ['Texas (US), United States', 'Texas'],
    ['Massachusetts, United States of America', 'Massachusetts'],
    ['MA, U.S.', 'Massachusetts'],
    ['N.Y.', 'New York'],
    ['N. Y.', 'New York'],
    ['New  York', 'New York'],
    ['New\u00A0York', 'New York'],
    ['NEW-YORK', 'New York'],
    ['W.Va.', 'West Virginia'],
    ['Calif.', 'California'],
    ['D.C.', 'District of Columbia'],
    ['DC', 'District of Columbia'],
    ['Washington DC', 'District of Columbia'],
    ['Washington, D.C., USA', 'District of Columbia'],
    ['District Of Columbia', 'District of Columbia'],
    ['Washington', 'Washington'],
    ['Ｔｅｘａｓ', 'Texas'],
    ['Hawaiʻi', 'Hawaii'],
    ["Hawai'i", 'Hawaii'],
  ];
  test.each(cases)('%j is %s', (written, name) => {
    expect(reader()(written)).toEqual({ kind: 'value', value: name });
  });

  test('every name, abbreviation and alias of the table finds its state', () => {
    const read = reader({ allow: STATE_GROUPS, values: 'abbreviation' });
    for (const { name, abbreviation, aliases } of stateTable.states) {
      for (const written of [name, abbreviation, ...aliases, `US-${abbreviation}`, `${name}, USA`]) {
        expect([written, read(written)]).toEqual([written, { kind: 'value', value: abbreviation }]);
      }
    }
  });
});

describe('refused text', () => {
  test.each([
    'Jalisco',
    'Distrito Federal',
    'Ontario',
    'USA',
    'US-',
    '-',
    'M',
    'Massachusetts Bay',
    'Noord-Holland',
    'constructor',
    'Kansus',
  ])('%j is not a state', (written) => {
    expect(reader()(written)).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('not a valid U.S. state'),
    });
  });

  test('a whole page is not a state', () => {
    expect(reader()('Massachusetts '.repeat(100_000))).toMatchObject({ kind: 'refused' });
  });

  test('the message says what is accepted', () => {
    expect(reader()('Jalisco')).toMatchObject({
      message:
        'is not a valid U.S. state; accepted: the 50 states and the District of Columbia, by name or abbreviation, such as Massachusetts, MA or Mass.',
    });
  });

  test('a territory is accepted only if the configuration allows it, and the message says how', () => {
    expect(reader()('P.R.')).toMatchObject({
      message:
        'is Puerto Rico, but the site accepts only the 50 states and the District of Columbia; if it accepts this one too, add territories to state_field.allow',
    });
    expect(reader({ allow: ['states', 'territories'] })('P.R.')).toEqual({ kind: 'value', value: 'Puerto Rico' });
  });

  test('D.C. can be excluded', () => {
    expect(reader({ allow: ['states'] })('D.C.')).toMatchObject({ kind: 'refused' });
  });
});
