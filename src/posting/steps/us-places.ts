// Takes city and state out of a place as feeds write it: "Tallahassee, FL", "WA - Seattle", "Florida (Remote)".
import type { StateFinder, StateTable, UsState } from '../us-states.ts';
import { compileForeignCities, type ForeignCities, type IsForeign } from './foreign-cities.ts';

export type UsPlace =
  /** `city` is absent if the text names only a state. */
  | { readonly kind: 'place'; readonly state: UsState; readonly city: string | undefined }
  /** `why` continues the sentence after the text. `state`: only the city is in question. */
  | { readonly kind: 'unclear'; readonly why: string; readonly state: UsState | undefined };

/** No place is longer than this. */
const MAX_LENGTH = 300;
/** Commas and the like; a dash only with spaces around it: "Winston-Salem". */
const SEPARATOR = /\s*[,;|/()[\]\n:•·]\s*|\s+[-–—]+\s+/;
/** "US-CA-San Francisco", "WA-Seattle". */
const CODED = /^(?:USA?-)?[A-Z]{2}-(?=\p{L})/u;
const WORK_MODE =
  /\b(?:fully |100% )?(?:remote(?:ly)?|hybrid|on-?site|in-?office|virtual|telecommute|work from home|home office|wfh|anywhere|nationwide)\b(?: (?:in|only|from|within|eligible|optional|position|role))?/gi;
const POSTAL_CODE = /\b\d{5}(?:-\d{4})?$/;
/** A part that belongs to the city before it. */
const DISTRICT = /\b(?:county|parish|borough|metro|metropolitan|area|region|township)\b/i;
/** Provinces of Canada, whose places end in "CA". */
const PROVINCES = new Set('AB BC MB NB NL NS NT NU ON PE QC SK YT'.split(' '));

/** Codes of states that are also codes of countries (ISO 3166-1): "DE", "IN". */
const COUNTRY_CODES = new Set(
  'AL AR AZ CA CO DE GA ID IL IN KY LA MA MD ME MN MO MS MT NC NE PA SC SD TN VA'.split(' '),
);
const REGION_CODE = /^[A-Z]{2,3}$/;

/**
 * Compiles the reader of places. @param foreignCities by the abbreviation of a state: cities elsewhere that are written
 * with the same code.
 */
export function compileUsPlaces(
  table: StateTable,
  findState: StateFinder,
  foreignCities: ForeignCities = {},
): (text: string) => UsPlace {
  const countries = new Set(table.countryNames.map(fold));
  const isForeign = compileForeignCities(foreignCities);
  const cache = new Map<string, UsPlace>();
  return (text) => {
    if (text.length > MAX_LENGTH) return unclear('is too long for a place');
    const known = cache.get(text);
    if (known !== undefined) return known;
    const parts = partsOf(text);
    const own = parts.filter((part) => !countries.has(fold(part)));
    const isInUs = own.length < parts.length;
    const place = placeOf(own, findState, isInUs ? () => false : isForeign);
    if (cache.size < 1_000) cache.set(text, place);
    return place;
  };
}

const fold = (text: string): string => text.replace(/[.\s]/g, '').toLowerCase();

const unclear = (why: string, state?: UsState): UsPlace => ({ kind: 'unclear', why, state });

function partsOf(text: string): readonly string[] {
  return text
    .replace(CODED, (code) => code.replaceAll('-', ', '))
    .split(SEPARATOR)
    .map((part) => part.replace(WORK_MODE, ' ').replace(/\s+/g, ' ').trim().replace(POSTAL_CODE, '').trim())
    .filter((part) => part !== '');
}

interface Part {
  readonly text: string;
  readonly state: UsState | undefined;
}

function placeOf(texts: readonly string[], findState: StateFinder, isForeign: IsForeign): UsPlace {
  const whole = texts.map((text): Part => ({ text, state: findState(text) }));
  const parts = whole.some(({ state }) => state !== undefined)
    ? whole
    : whole.flatMap((part) => splitEnd(part, findState));
  const named = parts.flatMap((part) => (part.state === undefined ? [] : [{ ...part, state: part.state }]));
  const others = parts.filter(({ state }) => state === undefined).map(({ text }) => text);
  const states = [...new Set(named.map(({ state }) => state))];
  const [state] = states;
  if (state === undefined) return unclear('names no U.S. state');
  if (others.some((text) => PROVINCES.has(text))) return unclear('may be a place in Canada');
  if (named.some((part) => isForeign(part, others)) || hasRegionOfCountry(parts)) {
    return unclear('may be a place outside the United States');
  }
  if (states.length > 1) return ofTwoStates(named, others);
  // "New York, NY" and "New York, New York": the full name is the city.
  const cities = named.length > 1 ? [state.name, ...others] : others.filter((text) => !DISTRICT.test(text));
  if (named.length === 1 && cities.length === 0 && state.name === 'Washington' && isFullName(named[0]?.text, state)) {
    return unclear('may be the state or the capital');
  }
  if (cities.length > 1 || named.length > 2) return unclear(`names several places in ${state.name}`, state);
  return { kind: 'place', state, city: cities[0] };
}

/** "Pune, MH, IN": a code that is not a state's, before one that is also a country's. */
function hasRegionOfCountry(parts: readonly Part[]): boolean {
  const [region, last] = parts.slice(-2);
  if (parts.length < 3 || region?.state !== undefined || last?.state === undefined) return false;
  return REGION_CODE.test(region?.text ?? '') && COUNTRY_CODES.has(last.text);
}

/** "Washington, DC" is one place. Others, such as "Portland, OR, ME", are left to people. */
function ofTwoStates(
  named: readonly { readonly text: string; readonly state: UsState }[],
  others: readonly string[],
): UsPlace {
  const [first, second, third] = named;
  const isCapital = first?.state.name === 'Washington' && second?.state.abbreviation === 'DC';
  if (isCapital && third === undefined && others.length === 0) {
    return { kind: 'place', state: second.state, city: first.state.name };
  }
  return unclear(`names several states: ${[...new Set(named.map(({ state }) => state.name))].join(', ')}`);
}

const isFullName = (text: string | undefined, { name }: UsState): boolean =>
  text !== undefined && fold(text) === fold(name);

/** "Boston MA" without a comma: only an abbreviation in capitals counts, as every city ends in some word. */
function splitEnd(part: Part, findState: StateFinder): readonly Part[] {
  const [, city = '', code = ''] = /^(.*\S)\s+([A-Z]{2})$/.exec(part.text) ?? [];
  const state = code === '' ? undefined : findState(code);
  return state === undefined
    ? [part]
    : [
        { text: city, state: undefined },
        { text: code, state },
      ];
}
