// Places as feeds write them: city and state, or why they are not clear.
import { expect, test } from 'vitest';
import { compileUsPlaces } from '../../../src/posting/steps/us-places.ts';
import { compileStates } from '../../../src/posting/us-states.ts';
import { stateTable } from '../sample-spec.ts';

const placeOf = compileUsPlaces(stateTable, compileStates(stateTable));

function shown(text: string): string {
  const place = placeOf(text);
  return place.kind === 'place' ? `${place.city ?? '-'} | ${place.state.abbreviation}` : place.why;
}

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
  ['Denver, Colorado or remote', 'names no U.S. state'],
  ['Washington', 'may be the state or the capital'],
  ['Remote', 'names no U.S. state'],
  ['United States', 'names no U.S. state'],
  ['Portland', 'names no U.S. state'],
  ['Paris, France', 'names no U.S. state'],
  ['Toronto, ON, CA', 'may be a place in Canada'],
  ['Boston, MA; New York, NY', 'names several states: Massachusetts, New York'],
  ['Kansas City, MO / KS', 'names several states: Missouri, Kansas'],
  ['Boston, Cambridge, MA', 'names several places in Massachusetts'],
  ['Nevada, MO', 'names several states: Nevada, Missouri'],
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
