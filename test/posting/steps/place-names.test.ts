// Cities outside the United States whose code is also that of a U.S. state.
import { expect, test } from 'vitest';
import { foreignCities, usCities } from '../../../src/config/load-us-states.ts';
import { compileStates } from '../../../src/posting/places.ts';
import { compileUsPlaces } from '../../../src/posting/steps/us-places.ts';
import { stateTable } from '../sample-spec.ts';

const placeOf = compileUsPlaces(stateTable, compileStates(stateTable), {
  foreignCities: foreignCities(),
  usCities: usCities(),
});

test.each([
  ...['Munich, DE', 'München, DE', 'DE - Munich', 'DE-Munich', 'Munich DE', 'Munich, DE, 80331', 'Remote, Berlin, DE'],
  ...['Garching, DE', 'Cologne, DE', 'Frankfurt am Main, DE', 'Toronto, CA', 'Montréal, CA', 'Vancouver, CA'],
  ...['Greater Toronto Area, CA', 'London, CA', 'Cordoba, AR', 'Buenos Aires, AR', 'Mumbai, IN', 'Bengaluru, KA, IN'],
  ...['Anytown, MH, IN', 'Hyderabad, TS, IN', 'Tbilisi, GA', 'Tbilisi, Georgia', 'Bogotá, CO', 'Medellín, CO'],
  ...[
    'Tel Aviv, IL',
    'Tel Aviv-Yafo, IL',
    'Casablanca, MA',
    'Jakarta, ID',
    'Valletta, MT',
    'Panama City, PA',
    'Tunis, TN',
  ],
  ...['Baku, AZ', 'Amsterdam, NH', 'Utrecht, UT', 'Perth, WA', 'Curitiba, PR', 'Florianópolis, SC', 'Chennai, TN'],
])('%j may be elsewhere', (text) => {
  expect(placeOf(text)).toEqual({ kind: 'unclear', why: 'may be a place outside the United States', state: undefined });
});

test.each([
  ['Wilmington, DE', 'Wilmington', 'DE'],
  ['Newark, DE', 'Newark', 'DE'],
  ['Ontario, CA', 'Ontario', 'CA'],
  ['Richmond, CA', 'Richmond', 'CA'],
  ['Gary, IN', 'Gary', 'IN'],
  ['Lebanon, IN', 'Lebanon', 'IN'],
  ['Little Rock, AR', 'Little Rock', 'AR'],
  ['Denver, CO', 'Denver', 'CO'],
  ['Chicago, IL', 'Chicago', 'IL'],
  ['Atlanta, Georgia', 'Atlanta', 'GA'],
  ['Athens, GA', 'Athens', 'GA'],
  ['Georgetown, KY', 'Georgetown', 'KY'],
  ['Cambridge, MA', 'Cambridge', 'MA'],
  ['Moscow, ID', 'Moscow', 'ID'],
  ['Paris, TN', 'Paris', 'TN'],
  ['Seattle, WA', 'Seattle', 'WA'],
  ['SFO, CA', 'SFO', 'CA'],
  // The country, or the name of the state, leaves no doubt.
  ['Toronto, CA, United States', 'Toronto', 'CA'],
  ['US-DE-Berlin', 'Berlin', 'DE'],
  ['Munich, Delaware', 'Munich', 'DE'],
])('%j is in the United States', (text, city, code) => {
  expect(placeOf(text)).toMatchObject({ kind: 'place', city, state: { abbreviation: code } });
});

test('the table has every country that shares its code with a state', () => {
  const cities = foreignCities();
  const codes = 'AL AR AZ CA CO DE GA ID IL IN KY LA MA MD ME MN MO MS MT NC NE PA SC SD TN VA'.split(' ');
  expect(Object.keys(cities)).toEqual(expect.arrayContaining(codes));
  for (const [code, names] of Object.entries(cities)) {
    const list = names.split(/,\s+/);
    expect(list).toEqual([...new Set(list)].sort());
    for (const name of list) expect(name, code).toMatch(/^[\p{L}\p{N}]+(?: [\p{L}\p{N}]+)*$/u);
  }
});
