// Places in the spellings of people and sites.
import { describe, expect, it } from 'vitest';
import { stateTable } from '../../../src/config/load-us-states.ts';
import { comparePlaces, placeOf } from '../../../src/plan/match/likeness.ts';
import { compileStates } from '../../../src/posting/places.ts';

const find = compileStates(stateTable());
const rules = { stateField: 'location-state', stateOf: (text: string) => find(text)?.name };
const at = (city: string | undefined, state: string | undefined) =>
  placeOf(
    {
      ...(city === undefined ? {} : { 'location-city': city }),
      ...(state === undefined ? {} : { location_state: state }),
    },
    rules,
  );

describe('two places', () => {
  it.each<[[string?, string?], [string?, string?], string]>([
    [['St. Louis', 'Missouri'], ['Saint Louis', 'MO'], 'same'],
    [['Boston', 'Massachusetts'], ['boston, MA 02118', 'Mass.'], 'same'],
    [['New York', 'New York'], ['NYC', 'NY'], 'same'],
    [['Winston-Salem', 'North Carolina'], ['Winston Salem', 'N.C.'], 'same'],
    [['Ft. Worth', 'Texas'], ['Fort  Worth', 'TX'], 'same'],
    [['Springfield', 'Illinois'], ['Springfield', 'Ohio'], 'other'],
    [['Portland', 'Oregon'], ['Salem', 'Oregon'], 'other'],
    [['Pittsburgh', 'Pennsylvania'], ['Pittsburg', 'PA'], 'similar'],
    [['Mesa', 'Arizona'], ['Nesa', 'Arizona'], 'other'],
    [['Charleston', 'South Carolina'], ['North Charleston', 'South Carolina'], 'similar'],
    [['Springfield', undefined], ['Springfield', 'Ohio'], 'similar'],
    [[undefined, 'Ohio'], ['Springfield', 'Ohio'], 'unknown'],
    [[undefined, 'Ohio'], [undefined, 'Iowa'], 'other'],
    [[undefined, undefined], [undefined, undefined], 'unknown'],
  ])('%j and %j: %s', (one, other, likeness) => {
    expect(comparePlaces(at(...one), at(...other))).toBe(likeness);
    expect(comparePlaces(at(...other), at(...one))).toBe(likeness);
  });
});
