// Places as feeds write them: city and state, or why they are not clear.
import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { foreignCities, usCities } from '../../../src/config/load-us-states.ts';
import { compileStates } from '../../../src/posting/places.ts';
import { compileUsPlaces } from '../../../src/posting/steps/us-places.ts';
import { stateTable } from '../sample-spec.ts';

const placeOf = compileUsPlaces(stateTable, compileStates(stateTable), {
  foreignCities: foreignCities(),
  usCities: usCities(),
});

function shown(text: string): string {
  const place = placeOf(text);
  return place.kind === 'place' ? `${place.city ?? '-'} | ${place.state.abbreviation}` : place.why;
}

test.each([
  ['London, UK; Ontario, CAN; Remote-Friendly, United States; San Francisco, CA', 'San Francisco | CA'],
  ['San Francisco, CA | London, UK', 'San Francisco | CA'],
  ['Toronto, Canada or Buffalo, New York', 'Buffalo | NY'],
  ['London, UK; Boston, MA; Austin, TX', 'names several states: Massachusetts, Texas'],
  ['London, UK; Wiesloch, DE', 'may be a place outside the United States'],
  ['London, UK; Munich, DE', 'may be a place outside the United States'],
  ['Toronto, Canada; Texas', 'may be a place outside the United States'],
  ['San Francisco, CA, London, UK', 'may be a place outside the United States'],
  ['Tbilisi, Georgia; London, UK', 'may be a place outside the United States'],
])('in a list with places abroad, %j is one place only if it is surely in the United States: %s', (text, expected) => {
  expect(shown(text)).toBe(expected);
});

test.each([
  ['Tallahassee, FL', 'Tallahassee | FL'],
  ['WA - Seattle', 'Seattle | WA'],
  ['WA-Seattle', 'Seattle | WA'],
  ['Seattle, Washington', 'Seattle | WA'],
  ['Florida (Remote)', '- | FL'],
  ['Remote - Texas', '- | TX'],
  ['Remote, Austin, TX', 'Austin | TX'],
  ['Hybrid: Austin, Texas', 'Austin | TX'],
  ['Remote in Texas', '- | TX'],
  ['New York, New York, United States', 'New York | NY'],
  ['New York, NY', 'New York | NY'],
  ['NY, New York', 'New York | NY'],
  ['New York', '- | NY'],
  ['Washington, DC', 'Washington | DC'],
  ['Washington, D.C., USA', 'Washington | DC'],
  ['US-CA-San Francisco', 'San Francisco | CA'],
  ['US-CA', '- | CA'],
  ['United States - CA - San Francisco', 'San Francisco | CA'],
  ['San Francisco, CA 94105', 'San Francisco | CA'],
  ['San Francisco, CA, 94105-1234, US', 'San Francisco | CA'],
  ['Boston MA', 'Boston | MA'],
  ['Boston MA 02110', 'Boston | MA'],
  ['Winston-Salem, N.C.', 'Winston-Salem | NC'],
  ['Kansas City, MO', 'Kansas City | MO'],
  ['Windsor, CA', 'Windsor | CA'],
  ['Salem, IN', 'Salem | IN'],
  ['Brooklyn, Kings County, NY', 'Brooklyn | NY'],
  ['St. Louis, Mo.', 'St. Louis | MO'],
  ['Denver, Colorado or remote', 'Denver | CO'],
  ['Washington', 'may be the state or the capital'],
  ['Remote', 'names no U.S. state'],
  ['United States', 'names no U.S. state'],
  ['Portland', 'names no U.S. state'],
  ['Paris, France', 'names no U.S. state'],
  ['Toronto, ON, CA', 'may be a place in Canada'],
  ['Boston, MA; New York, NY', 'names several states: Massachusetts, New York'],
  ['Kansas City, MO / KS', 'names several states: Missouri, Kansas'],
  ['Boston, Cambridge, MA', 'names several places in Massachusetts'],
  ['Nevada, MO', 'Nevada | MO'],
  ['Indiana, PA', 'Indiana | PA'],
  ['Delaware, OH', 'Delaware | OH'],
  ['Kansas, MO', 'names several states: Kansas, Missouri'],
  ['Texas, Virginia', 'names several states: Texas, Virginia'],
  ['Washington, D.C., DC', 'Washington | DC'],
  ['Washington D.C., DC, USA', 'Washington | DC'],
  ['USA DC Washington', 'Washington | DC'],
  ['USA.VA.Reston', 'Reston | VA'],
  ['US_TX_Austin', 'Austin | TX'],
  ['United States-Texas-Austin', 'Austin | TX'],
  ['United States Missouri Saint Louis', 'Saint Louis | MO'],
  ['Remote-TX', '- | TX'],
  ['New York City, NY or Remote (US)', 'New York City | NY'],
  ['Remote or Denver, CO', 'Denver | CO'],
  ['San Jose or Remote, CA', 'San Jose | CA'],
  ['Austin, TX (Hybrid - 2 days in office)', 'Austin | TX'],
  ['Austin, TX (3 days/week)', 'Austin | TX'],
  ['New York, NY or Remote (East Coast U.S.)', 'New York | NY'],
  ['123 Main St, Austin, TX 78701', 'Austin | TX'],
  ['Brooklyn, New York, NY', 'Brooklyn | NY'],
  ['Truth or Consequences, NM', 'Truth or Consequences | NM'],
  ['Town and Country, MO', 'Town and Country | MO'],
  ['LA CROSSE, WI', 'LA CROSSE | WI'],
  ['Champaign Illinois', 'Champaign | IL'],
  ['Portland OR 97201', 'Portland | OR'],
  ['Remote, OR', '- | OR'],
  ['REMOTE OR AUSTIN, TX', 'AUSTIN | TX'],
  ['austin, tx', 'austin | TX'],
  ['Metairie, LA', 'Metairie | LA'],
  ['US-LA', '- | LA'],
  ['LA', 'may be Louisiana or Los Angeles'],
  ['Austin, TX or Denver, CO', 'names several states: Texas, Colorado'],
  ['Austin, TX & Denver, CO', 'names several states: Texas, Colorado'],
  ['Austin, TX + Denver, CO', 'names several states: Texas, Colorado'],
  ['Austin, TX Denver, CO', 'names several states: Texas, Colorado'],
  ['Austin, TX - Denver, CO', 'names several states: Texas, Colorado'],
  ['Portland, OR or Seattle, WA', 'names several states: Oregon, Washington'],
  ['SEATTLE, WA OR PORTLAND, OR', 'names several states: Washington, Oregon'],
  ['Anywhere in OR or WA', 'names several states: Oregon, Washington'],
  ['Portland OR Austin', 'names several places, and not whether Austin is in Oregon'],
  ['Remote (CO or TX)', 'names several states: Colorado, Texas'],
  ['Work at home in OH, IN, or KY', 'names several states: Ohio, Indiana, Kentucky'],
  ['Seattle, WA or Portland', 'names several places, and not whether Portland is in Washington'],
  ['New York or San Francisco', 'names several places, and not whether San Francisco is in New York'],
  ['New York, Chicago', 'names several places, and not whether Chicago is in New York'],
  ['Miami, New York', 'names several places, and not whether Miami is in New York'],
  ['SF, NY, Remote', 'names several places, and not whether SF is in New York'],
  ['Denver, Austin, TX', 'names several places, and not whether Denver is in Texas'],
  ['Arizona, Seattle', 'names several places, and not whether Seattle is in Arizona'],
  ['NY, Princeton, London', 'names several places, and not whether London is in New York'],
  ['Austin or Dallas, TX', 'names several places in Texas'],
  ['Dallas/Fort Worth, TX', 'names several places in Texas'],
  ['Fort Worth, TX & more', 'names several places'],
  ['Hi, we hire in HI', 'is a sentence, not a place'],
  ['Perth, WA, Australia', 'may be a place outside the United States'],
  ['Bunbury, WA, Australia', 'may be a place outside the United States'],
  ['Salta, AR, AR', 'may be a place outside the United States'],
  ['Georgia, Georgia', 'may be a place outside the United States'],
  ['Atlanta, Georgia, United States', 'Atlanta | GA'],
  ['London, UK or New York, NY', 'may be a place outside the United States'],
  ['British Columbia, CA', 'may be a place in Canada'],
  ['x'.repeat(301), 'is too long for a place'],
  ['', 'names no U.S. state'],
])('%j', (text, expected) => {
  expect(shown(text)).toBe(expected);
  expect(shown(text)).toBe(expected);
});

test('every state is found behind a city, by name and by abbreviation', () => {
  for (const { name, abbreviation, group } of stateTable.states) {
    if (group === 'dc') continue;
    expect(shown(`Springfield, ${abbreviation}`)).toBe(`Springfield | ${abbreviation}`);
    expect(shown(`${name} - Springfield`)).toBe(`Springfield | ${abbreviation}`);
  }
});

/** Texts of public lists of jobs, each with the state and the city that it means; without either, a person has to say it. */
const corpus: { readonly text: string; readonly state: string; readonly city: string }[] = parse(
  readFileSync('test/posting/steps/places.csv', 'utf8'),
  { columns: true },
);

/** The state, and the city where it is clear; empty if the state is not. */
function meaning(text: string): string {
  const place = placeOf(text);
  return place.state === undefined
    ? ''
    : `${place.state.abbreviation} ${place.kind === 'place' ? (place.city ?? '') : '?'}`;
}

test.each([
  ['the first half', 0],
  ['the second half', 1],
])('of 500 real texts, %s has no wrong state or city, and at most 3 in 100 are left to people', (_, half) => {
  const rows = corpus.filter((_row, at) => at % 2 === half);
  expect(rows).toHaveLength(250);
  const expected = (row: (typeof rows)[number]): string => (row.state === '' ? '' : `${row.state} ${row.city}`);
  const wrong = rows.filter((row) => meaning(row.text) !== '' && meaning(row.text) !== expected(row));
  expect(wrong).toEqual([]);
  const meant = rows.filter(({ state }) => state !== '');
  const found = meant.filter((row) => meaning(row.text) === expected(row));
  expect(found.length / meant.length).toBeGreaterThanOrEqual(0.97);
});
