// Takes city and state out of a place as feeds write it: "Tallahassee, FL", "WA - Seattle", "Denver, CO or Remote". A text is a
// list of places; it has a city and a state only if all of it can mean one place.
import type { StateFinder, StateTable, UsState } from '../places.ts';
import { type CityTable, compileCities, foldPlace, isCountryName } from './place-names.ts';

export type UsPlace =
  /** `city` is absent if the text names only a state. */
  | { readonly kind: 'place'; readonly state: UsState; readonly city: string | undefined }
  /** `why` continues the sentence after the text. `state`: only the city is in question. */
  | { readonly kind: 'unclear'; readonly why: string; readonly state: UsState | undefined };

/** What is known of cities. */
export interface PlaceNames {
  /** By the abbreviation of a state: cities elsewhere that are written with the same code. */
  readonly foreignCities?: CityTable | undefined;
  /** By the abbreviation of a state: its cities. */
  readonly usCities?: CityTable | undefined;
}

/** No place is longer than this. */
const MAX_LENGTH = 300;

/**
 * What a piece of the text can be:
 *
 * | piece    | examples                                                     | effect                                     |
 * | -------- | ------------------------------------------------------------ | ------------------------------------------ |
 * | state    | "TX", "Tex.", "Texas"                                        | the state of its place                     |
 * | city     | any other name                                               | the city of its place                      |
 * | us       | "US", "United States"                                        | a code is that of a state, not of a country |
 * | abroad   | "Canada", "UK"                                               | its place is not in the United States      |
 * | noise    | "Remote", "Hybrid in", "78701", "Kings County", "2 Locations" | none                                       |
 * | rest     | "more", "others"                                             | the list has further places                |
 * | sentence | "we hire in"                                                 | the text is no place                       |
 */
type Kind = 'state' | 'city' | 'us' | 'abroad' | 'noise' | 'rest' | 'sentence';

interface Piece {
  readonly kind: Kind;
  readonly text: string;
  readonly state: UsState | undefined;
  /** Whether the part begins another place of a list: after "or", "and", "/", ";" and the like. */
  readonly isNext: boolean;
}

/** Joins the places of a list. */
const LIST_SIGN = /[;|/+&•·\n]|\s+(?:and\/or|as well as|or|and|plus)(?=\s)/i;
/** Separates the parts of a place; a dash only with spaces around it: "Winston-Salem". */
const PART_SIGN = /[,:()[\]>]|\s[-–—]+\s/g;
const LIST_WORD_FIRST = /^(?:or|and|plus)\s+/;
/** "US-CA-San Francisco", "USA.VA.Reston", "WA-Seattle". */
const CODED = /^(?:(?:USA?|United States)\s*[-._>/]\s*)?([A-Z]{2})\s*[-._>/]\s*(?=\p{L})/u;
const COUNTRY_CODED = /^(USA?|United States)[-._>/](?=\p{L})/u;
/** "Remote-TX", "Austin_TX". */
const CODE_LAST = /(?<=\p{L})[-_]([A-Z]{2})$/u;
const WORK_MODEL =
  /\b(?:(?:fully|100%|partially|mostly) )?(?:remote(?:ly)?|hybrid|on-?site|in[- ](?:office|person)|virtual(?:ly)?|tele(?:commute|commuting|work)|work(?:ing)? (?:from|at) home|home[- ](?:office|based)|wfh|anywhere|nationwide|flexible|distributed|field[- ]based)\b(?:[- ](?:in|only|from|within|across|eligible|optional|position|role|first|friendly|based|possible|available|option|work|job|ok))*(?![\w-])/gi;
const FREE_NOISE =
  /^(?:travel[- ]required|multiple|various|several|other|(?:multiple|various|several|many|all|\d+)(?: [a-z]+)? (?:locations?|cities|sites|offices|states|places)|hq|headquarters|main office|(?:non-)?(?:field|office)|location|based|week|(?:north|south|mid-?)? ?(?:east|west|midwest|atlantic)(?:ern)?(?: coast)?|(?:eastern|central|mountain|pacific)(?: time(?: zone)?)?|[ECMP][SD]T|north america|americas?|amer|(?:full|part)[- ]time|\d+ ?%.*|\d+(?: ?[-–] ?\d+)?\+?(?: ?x)?(?: days?)?(?: (?:a|per|in|on|the|week|office|site|month))*)$/i;
const PREPOSITION = /(?:^|\s)(?:in|from|near|around|at)$|^(?:in|from|near|around|at)\s/g;
/** Marks of lists before a place, and the end of a sentence after it. */
const MARKS = /^[\s*\-–—.]+|[\s*\-–—]+$|(?<=\p{L}{4})\.$/gu;
const CONDITION = /\s+(?:eligible|residents?|only|preferred|based)$/i;
const POSTAL_CODE = /(?:^|\s)\d{5}(?:-\d{4})?$/;
const REST = /^(?:\d+ )?(?:more|others?|etc\.?|elsewhere)\b|^\d+$/i;
/** A part that belongs to the city before it. */
const DISTRICT = /\b(?:county|parish|borough|metro|metropolitan|area|region|township)\b/i;
/** A part before the city: a street or a building. */
const ADDRESS =
  /\d|\b(?:st|street|ave|avenue|rd|road|blvd|boulevard|dr|drive|ln|lane|hwy|highway|suite|floor|building|bldg|tower|campus|office|hospital|center|centre|plaza|mall|airport|warehouse|store|clinic|school|university|college|plant|hq)\b/i;
const SENTENCE =
  /(?:^|\s)(?:we|our|you|your|hire|hiring|hired|is|are|will|must|can|who|that|this|with|for|any|every|please|see|to|if|as)(?=\s|$)/;
/** Provinces of Canada, whose places end in "CA". */
const PROVINCES = new Set('AB BC MB NB NL NS NT NU ON PE QC SK YT'.split(' '));
const PROVINCE_NAME =
  /^(?:british columbia|alberta|manitoba|qu[eé]bec|nova scotia|new brunswick|saskatchewan|newfoundland.*)$/i;
/** Codes of states that are also codes of countries (ISO 3166-1): "DE", "IN". */
const COUNTRY_CODES = new Set(
  'AL AR AZ CA CO DE GA ID IL IN KY LA MA MD ME MN MO MS MT NC NE PA SC SD TN VA'.split(' '),
);
const REGION_CODE = /^[A-Z]{2,3}$/;
/** "SF", "NYC". */
const SHORT_NAME = /^[A-Z]{2,3}$/;
/** States whose names mean a large city at least as often. */
const CITIES_TOO = new Set(['new york', 'washington']);
const CAPITAL = /^(Washington),? (D\.?\s?C\.?)$/i;
const NEW_YORK_CITY = new Set(['new york city', 'nyc']);

/** Compiles the reader of places. */
export function compileUsPlaces(
  table: StateTable,
  findState: StateFinder,
  { foreignCities = {}, usCities = {} }: PlaceNames = {},
): (text: string) => UsPlace {
  const countries = new Set(table.countryNames.map((name) => name.replace(/[.\s]/g, '').toLowerCase()));
  const words: Words = {
    findState,
    isUs: (text) => countries.has(text.replace(/[.\s]/g, '').toLowerCase()),
    isForeignCity: compileCities(foreignCities).isAround,
    ...usCitiesOf(usCities),
    newYork: findState('NY'),
  };
  const cache = new Map<string, UsPlace>();
  return (text) => {
    if (text.length > MAX_LENGTH) return unclear('is too long for a place');
    const known = cache.get(text);
    if (known !== undefined) return known;
    const place = meaningOf(piecesOf(text, words), words);
    if (cache.size < 1_000) cache.set(text, place);
    return place;
  };
}

/** What the words of a place may be. */
interface Words {
  readonly findState: StateFinder;
  readonly isUs: (text: string) => boolean;
  readonly isForeignCity: (abbreviation: string, city: string) => boolean;
  /** Whether the state has a city of this name. */
  readonly isCityIn: (abbreviation: string, city: string) => boolean;
  /** Whether any state has one. */
  readonly isCity: (city: string) => boolean;
  /** Whether cities of this name are known, but in other states only, and in so few that the text means one of them. */
  readonly isElsewhere: (abbreviation: string, city: string) => boolean;
  readonly newYork: UsState | undefined;
}

/** A name of cities in more states may also be that of a small one: "Springfield". */
const FEW_STATES = 2;

function usCitiesOf(table: CityTable): Pick<Words, 'isCityIn' | 'isCity' | 'isElsewhere'> {
  const { isIn, count } = compileCities(table);
  return {
    isCityIn: isIn,
    isCity: (city) => count(city) > 0,
    isElsewhere: (abbreviation, city) =>
      !isIn(abbreviation, city) && count(city) > 0 && count(city) <= FEW_STATES && !ADDRESS.test(city),
  };
}

const unclear = (why: string, state?: UsState): UsPlace => ({ kind: 'unclear', why, state });

function piecesOf(text: string, words: Words): readonly Piece[] {
  const isMixed = /\p{Ll}/u.test(text) && /\p{Lu}/u.test(text);
  const pieces: Piece[] = [];
  const parts = text.split(PART_SIGN).flatMap((part) => withoutCoding(part.trim(), words).split(PART_SIGN));
  let isNext = false;
  for (const part of parts) {
    for (const [nth, item] of itemsOf(part, words).entries()) {
      const isListed = LIST_WORD_FIRST.test(item);
      isNext ||= nth > 0 || isListed;
      const added = readItem(item.replace(LIST_WORD_FIRST, ''), {
        words,
        isMixed,
        isAlone: parts.length === 1 && nth === 0,
      });
      for (const [first, piece] of added.entries()) pieces.push({ ...piece, isNext: isNext && first === 0 });
      if (added.length > 0) isNext = false;
    }
  }
  return pieces;
}

/** Writes codes with commas: "US-CA-Irvine" → "US, CA, Irvine". */
function withoutCoding(text: string, { findState }: Words): string {
  const coded = CODED.exec(text);
  if (coded !== null && findState(coded[1] ?? '') !== undefined) {
    return coded[0].replace(/\s*[-._>/]\s*/g, ', ') + text.slice(coded[0].length);
  }
  const country = COUNTRY_CODED.exec(text);
  if (country !== null) {
    const [state = '', ...rest] = text.slice(country[0].length).split(/[-._>/]/);
    return [country[1], state, ...(rest.length === 0 ? [] : [text.slice(country[0].length + state.length + 1)])].join(
      ', ',
    );
  }
  return text.replace(CODE_LAST, (code, letters: string) => (findState(letters) === undefined ? code : `, ${letters}`));
}

/** The items of a list: "Austin or Dallas" → "Austin", "Dallas". A city may have such a word in its name. */
function itemsOf(part: string, { findState, isCity }: Words): readonly string[] {
  if (isCity(part)) return [part];
  const items: string[] = [];
  let rest = part.trim();
  for (;;) {
    const sign = LIST_SIGN.exec(rest);
    if (sign === null) return [...items, rest].map((item) => item.trim()).filter((item) => item !== '');
    const before = rest.slice(0, sign.index);
    const after = rest.slice(sign.index + sign[0].length);
    if (sign[0].trim() === 'OR' && !isJoin(before, after, findState)) {
      // What follows is another place, if anything: "Portland OR Austin" may also be two cities, so it has no state.
      items.push(`${before} OR`);
      rest = after;
      continue;
    }
    items.push(before);
    rest = after;
  }
}

/** "OR" is Oregon's abbreviation too: it joins where a state or a work model precedes it and a place follows. */
function isJoin(before: string, after: string, findState: StateFinder): boolean {
  if (!/^\s+(?!(?:or|and)\s)\p{L}/u.test(after) || /\b(?:in|from)$/i.test(before)) return false;
  return findState(before.split(/\s/).at(-1) ?? '') !== undefined || withoutNoise(before) === '';
}

function withoutNoise(text: string): string {
  const plain = text.replace(WORK_MODEL, ' ').replace(/\s+/g, ' ').replace(MARKS, '').trim();
  const rest = plain.replace(POSTAL_CODE, '').replace(PREPOSITION, '').replace(CONDITION, '').trim();
  return FREE_NOISE.test(rest) ? '' : rest;
}

interface Reading {
  readonly words: Words;
  /** The text has small and capital letters, so they say something. */
  readonly isMixed: boolean;
  readonly isAlone: boolean;
}

type Read = Omit<Piece, 'isNext'>;

/** An item of a list, without commas, may still be a city and a state: "Boston MA 02110", "TX Denver". */
function readItem(item: string, reading: Reading): readonly Read[] {
  const { words } = reading;
  const text = withoutNoise(item);
  if (text === '') return item === '' ? [] : [{ kind: 'noise', text: item, state: undefined }];
  if (words.isUs(text)) return [{ kind: 'us', text, state: undefined }];
  const capital = CAPITAL.exec(text);
  if (capital !== null)
    return [cityPiece(capital[1] ?? ''), { kind: 'state', text: 'DC', state: words.findState('DC') }];
  const state = stateOf(text, reading);
  if (state !== undefined) return [{ kind: 'state', text, state }];
  if (isCountryName(text) && !words.isCity(text)) return [{ kind: 'abroad', text, state: undefined }];
  if (words.isCity(text)) return [cityPiece(text)];
  const split = atCountry(text, words) ?? atState(text, reading);
  if (split !== undefined) return split.flatMap((each) => readItem(each, reading));
  if (REST.test(text)) return [{ kind: 'rest', text, state: undefined }];
  if (DISTRICT.test(text)) return [{ kind: 'noise', text, state: undefined }];
  return [SENTENCE.test(text) ? { kind: 'sentence', text, state: undefined } : cityPiece(text)];
}

const cityPiece = (text: string): Read => ({ kind: 'city', text, state: undefined });

/** Two letters are a code only as feeds write codes: "Hi, we hire in HI". */
function stateOf(text: string, { words, isMixed, isAlone }: Reading): UsState | undefined {
  const letters = text.replace(/[.\s]/g, '');
  if (
    letters.length === 2 &&
    isMixed &&
    !isAlone &&
    letters !== letters.toUpperCase() &&
    !/^[A-Z][a-z]$/.test(letters)
  ) {
    return undefined;
  }
  return words.findState(text);
}

/** "USA NC Fort Bragg", "TX United States". */
function atCountry(text: string, { isUs }: Words): readonly string[] | undefined {
  const parts = text.split(' ');
  for (let length = Math.min(4, parts.length - 1); length > 0; length--) {
    const first = parts.slice(0, length).join(' ');
    if (isUs(first)) return [first, parts.slice(length).join(' ')];
    const last = parts.slice(-length).join(' ');
    if (isUs(last)) return [parts.slice(0, -length).join(' '), last];
  }
  return undefined;
}

/** Divides a text where it names a state without a comma; the name of a state counts only after one of its cities. */
function atState(text: string, { words, isMixed }: Reading): readonly string[] | undefined {
  const parts = text.split(' ');
  // In a text of capital letters only, "LA CROSSE" is no code at its beginning.
  const first = isMixed ? 0 : 1;
  const at = parts.findLastIndex(
    (part, place) => place >= first && /^[A-Z]{2}$/.test(part) && words.findState(part) !== undefined,
  );
  if (at !== -1 && parts.length > 1) {
    return [parts.slice(0, at), parts.slice(at, at + 1), parts.slice(at + 1)].flatMap((some) => some.join(' ') || []);
  }
  for (let length = 1; length <= 2 && length < parts.length; length++) {
    const [city, name] = [parts.slice(0, -length).join(' '), parts.slice(-length).join(' ')];
    const state = words.findState(name);
    if (state !== undefined && words.isCityIn(state.abbreviation, city)) return [city, name];
    const [before, after] = [parts.slice(0, length).join(' '), parts.slice(length).join(' ')];
    const stateBefore = words.findState(before);
    if (stateBefore !== undefined && words.isCityIn(stateBefore.abbreviation, after)) return [before, after];
  }
  return undefined;
}

/** A place of the list; `cities` has several if commas divide them. */
interface Listed {
  cities: string[];
  /** How many of the cities precede the state. */
  before: number;
  state: UsState | undefined;
  /** As the text names the state, each time. */
  names: string[];
}

function placesOf(pieces: readonly Piece[], words: Words): readonly Listed[] {
  const places: Listed[] = [];
  let place: Listed = newPlace();
  const next = (): Listed => {
    if (place.cities.length > 0 || place.state !== undefined) places.push(place);
    return newPlace();
  };
  const content = pieces.filter(({ kind }) => kind === 'state' || kind === 'city' || kind === 'abroad');
  for (const [at, { text, state, isNext }] of content.entries()) {
    if (isNext) place = next();
    if (state === undefined) {
      const following = content[at + 1];
      const isOfNext = following?.isNext === false && following.state !== undefined && following.state !== place.state;
      const isWhole = place.state !== undefined && place.before > 0;
      if (isWhole || (place.state !== undefined && isOfNext)) place = next();
      place.cities.push(text);
      continue;
    }
    if (place.state !== undefined && place.state !== state) {
      if (place.state.abbreviation === 'DC' && state.name === 'Washington' && place.cities.length === 0) {
        place.cities.push(text);
        continue;
      }
      // "Indiana, PA": a city may have the name of a state.
      const isCity = place.cities.length === 0 && place.names.every((name) => words.isCityIn(state.abbreviation, name));
      const cities = isCity ? place.names.slice(0, 1) : [];
      if (!isCity) next();
      place = { ...newPlace(), cities };
    }
    if (place.state === undefined) place.before = place.cities.length;
    place.state = state;
    place.names.push(text);
  }
  next();
  return places.map((each) => withCityOfState(each, words));
}

const newPlace = (): Listed => ({ cities: [], before: 0, state: undefined, names: [] });

/** "New York, NY" and "Buffalo, New York, NY": the state that is named twice is a city once, if no other city is there. */
function withCityOfState(place: Listed, { newYork, isCityIn }: Words): Listed {
  if (newYork === undefined || place.state !== newYork || place.names.length < 2) return place;
  const known = place.cities.filter((city) => isCityIn(newYork.abbreviation, city));
  return known.length > 0 && known.length === place.cities.length
    ? place
    : { ...place, cities: [...place.cities, newYork.name] };
}

function meaningOf(pieces: readonly Piece[], words: Words): UsPlace {
  const inUs = withoutAbroad(pieces, words);
  if (inUs !== undefined) return meaningOf(inUs, words);
  if (pieces.some(({ kind }) => kind === 'sentence')) return unclear('is a sentence, not a place');
  const places = placesOf(pieces, words);
  const states = [...new Set(places.flatMap(({ state }) => state ?? []))];
  const cities = places.flatMap((place) => place.cities);
  const [state] = states;
  if (state === undefined) return ofCityAlone(cities, pieces, words);
  if (cities.some((city) => PROVINCES.has(city) || PROVINCE_NAME.test(city)))
    return unclear('may be a place in Canada');
  if (isAbroad(pieces, places, words)) return unclear('may be a place outside the United States');
  if (states.length > 1) return unclear(`names several states: ${states.map(({ name }) => name).join(', ')}`);
  const names = places.flatMap((place) => place.names).join();
  if (cities.length === 0 && names === 'Washington') return unclear('may be the state or the capital');
  if (cities.length === 0 && names === 'LA' && !isInUs(pieces)) return unclear('may be Louisiana or Los Angeles');
  if (pieces.some(({ kind }) => kind === 'rest')) return unclear('names several places');
  const elsewhere = places.flatMap((place) => citiesElsewhere(place, state, words));
  if (elsewhere.length > 0) return unclear(`names several places, and not whether ${elsewhere[0]} is in ${state.name}`);
  const isHeading = places.some(
    ({ before, cities: all, state: own }) => own !== undefined && before === 0 && all.length > 1,
  );
  const isSurePart = isInUs(pieces) || cities.every((city) => words.isCityIn(state.abbreviation, city));
  if (isHeading && !isSurePart) return unclear('names several places');
  const named = new Map(cities.map((city) => [foldPlace(city), city]));
  const towns = [...named.values()].filter((city, at, all) => at === all.length - 1 || !ADDRESS.test(city));
  if (towns.length > 1) return unclear(`names several places in ${state.name}`, state);
  return { kind: 'place', state, city: towns[0] };
}

/**
 * The items of a list without those abroad: of "London, UK; San Francisco, CA", only one can be meant on a site for the United
 * States. `undefined`: there are none, or it is not certain that the others are not abroad, too.
 */
function withoutAbroad(pieces: readonly Piece[], words: Words): readonly Piece[] | undefined {
  const items: Piece[][] = [];
  for (const piece of pieces) {
    const item = items.at(-1);
    if (item === undefined || piece.isNext) items.push([piece]);
    else item.push(piece);
  }
  const isElsewhere = (item: readonly Piece[]) =>
    item.some(({ kind }) => kind === 'abroad') && !item.some(({ kind }) => kind === 'state' || kind === 'us');
  const others = items.filter((item) => !isElsewhere(item)).flat();
  if (others.length === pieces.length) return undefined;
  const places = placesOf(others, words);
  const isSure = places.every(
    ({ state, cities }) =>
      state !== undefined && cities.length > 0 && cities.every((city) => words.isCityIn(state.abbreviation, city)),
  );
  return places.length > 0 && isSure ? others : undefined;
}

/** New York City is in one state only. */
function ofCityAlone(cities: readonly string[], pieces: readonly Piece[], { newYork }: Words): UsPlace {
  const [city, other] = cities;
  const isNewYork = city !== undefined && other === undefined && NEW_YORK_CITY.has(foldPlace(city));
  const isMore = pieces.some(({ kind }) => kind === 'abroad' || kind === 'rest');
  if (!isNewYork || newYork === undefined || isMore) {
    return unclear('names no U.S. state');
  }
  return { kind: 'place', state: newYork, city };
}

/**
 * Cities that need not be in the state: those of another item of the list that are not known to be there, and those beside the state
 * that are known elsewhere: "Denver, Austin, TX", "New York, Chicago". Only "Boston, TX" itself is not doubted,
 * unless one of the two may be another city: "SF, NY", "Miami, New York".
 */
function citiesElsewhere(
  { cities, before, state, names }: Listed,
  { abbreviation }: UsState,
  words: Words,
): readonly string[] {
  if (state === undefined) return cities.filter((city) => !words.isCityIn(abbreviation, city));
  const isDoubted = SHORT_NAME.test(cities[0] ?? '') || names.some((name) => CITIES_TOO.has(foldPlace(name)));
  if (cities.length === 1 && before === 1 && !isDoubted) return [];
  return cities.filter((city) => words.isElsewhere(abbreviation, city));
}

const isInUs = (pieces: readonly Piece[]): boolean => pieces.some(({ kind }) => kind === 'us');

/** A code may be that of a country, and Georgia is one. */
function isAbroad(pieces: readonly Piece[], places: readonly Listed[], words: Words): boolean {
  if (pieces.some(({ kind }) => kind === 'abroad')) return true;
  if (isInUs(pieces)) return false;
  return places.some(({ state, names, cities }) => {
    if (state === undefined) return false;
    const { abbreviation } = state;
    const isCode = names.some((name) => name.replaceAll('.', '') === abbreviation);
    // "Salta, AR, AR" and "Georgia, Georgia" end with the country.
    const isTwice = names.length > 1 && new Set(names).size === 1;
    if (isTwice && (state.name === 'Georgia' || (isCode && COUNTRY_CODES.has(abbreviation)))) return true;
    // "Pune, MH, IN"
    if (isCode && COUNTRY_CODES.has(abbreviation) && cities.length > 1 && REGION_CODE.test(cities.at(-1) ?? ''))
      return true;
    if (!isCode && state.name !== 'Georgia') return false;
    return pieces.some(({ kind, text }) => kind !== 'state' && words.isForeignCity(abbreviation, text));
  });
}
