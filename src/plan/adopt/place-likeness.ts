// Compares where a posting and a site job are: people and sites spell the same city in several ways.
import type { Fields } from '../../posting/posting.ts';
import { fieldOf } from '../same-value.ts';

/** Where something is, in a form to compare. Absent parts are unknown. */
export interface Place {
  readonly city: string | undefined;
  readonly state: string | undefined;
}

/** How to find the place in fields. */
export interface PlaceRules {
  readonly stateField: string;
  /** The name of the state that a text names, if any. */
  readonly stateOf: (text: string) => string | undefined;
}

/** For a site that is not configured: only places spelled alike are the same. */
export const UNKNOWN_PLACES: PlaceRules = { stateField: 'location-state', stateOf: () => undefined };

export type PlaceLikeness = 'same' | 'similar' | 'other' | 'unknown';

const CITY_FIELDS = ['location-city', 'city', 'location', 'place', 'town'];

/** Abbreviated words of names of cities. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ['st', 'saint'],
  ['ste', 'sainte'],
  ['ft', 'fort'],
  ['mt', 'mount'],
  ['mtn', 'mountain'],
  ['pt', 'point'],
  ['hts', 'heights'],
  ['spgs', 'springs'],
  ['vlg', 'village'],
  ['twp', 'township'],
  ['n', 'north'],
  ['s', 'south'],
  ['e', 'east'],
  ['w', 'west'],
]);
const CITIES: ReadonlyMap<string, string> = new Map([
  ['nyc', 'new york'],
  ['new york city', 'new york'],
  ['sf', 'san francisco'],
  ['washington dc', 'washington'],
  ['philly', 'philadelphia'],
]);

/** A shorter name may differ from another city's by one letter. */
const LEAST_FOR_TYPO = 7;

export function placeOf(fields: Fields, { stateField, stateOf }: PlaceRules): Place {
  const state = fieldOf(fields, stateField)?.trim();
  const name = CITY_FIELDS.find((field) => field !== stateField && fieldOf(fields, field)?.trim());
  const city = name === undefined ? undefined : fieldOf(fields, name);
  return {
    city: city === undefined ? undefined : cityForm(city, stateOf) || undefined,
    state: state ? (stateOf(state) ?? fold(state)) : undefined,
  };
}

/**
 * | state         | city                                        | likeness  |
 * | ------------- | ------------------------------------------- | --------- |
 * | different     | any                                         | `other`   |
 * | same, unknown | the same in another spelling                | `same`    |
 * | same, unknown | one name has the other, or one letter more  | `similar` |
 * | same, unknown | different                                   | `other`   |
 * | same, unknown | unknown                                     | `unknown` |
 *
 * An unknown state makes the same city `similar`: there are many Springfields.
 */
export function comparePlaces(sent: Place, shown: Place): PlaceLikeness {
  const isStateKnown = sent.state !== undefined && shown.state !== undefined;
  if (isStateKnown && sent.state !== shown.state) return 'other';
  if (sent.city === undefined || shown.city === undefined) return 'unknown';
  if (sent.city === shown.city) return isStateKnown ? 'same' : 'similar';
  const [short, long] = sent.city.length < shown.city.length ? [sent.city, shown.city] : [shown.city, sent.city];
  if (` ${long} `.includes(` ${short} `)) return 'similar';
  return short.length >= LEAST_FOR_TYPO && isOneLetterApart(short, long) ? 'similar' : 'other';
}

/** "St. Louis, MO 63101" → "saint louis". */
function cityForm(text: string, stateOf: PlaceRules['stateOf']): string {
  const [first = '', ...rest] = text.split(',');
  // In "Springfield, Greene County" the rest may be another part of the name; states and postal codes are not.
  const kept = rest.filter(
    (part) => !/^\s*(?:\d[\d-]*|us|usa|united states)?\s*$/i.test(part) && !isState(part, stateOf),
  );
  const words = fold([first, ...kept].join(' ')).split(' ');
  const name = words.map((word) => WORDS.get(word) ?? word).join(' ');
  return CITIES.get(name) ?? name;
}

const isState = (part: string, stateOf: PlaceRules['stateOf']): boolean =>
  stateOf(part.replace(/\s+\d[\d-]*\s*$/, '').trim()) !== undefined;

const fold = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/[.'’\p{M}]/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .toLowerCase();

/** Whether one letter was added, left out or replaced. */
function isOneLetterApart(short: string, long: string): boolean {
  if (long.length - short.length > 1) return false;
  let at = 0;
  while (at < short.length && short[at] === long[at]) at++;
  return short.slice(short.length === long.length ? at + 1 : at) === long.slice(at + 1);
}
