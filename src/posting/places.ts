// Splits a record that lists several places into one record tree for each of them, so that the mapping's paths find
// only one, and makes a posting of each place, or one of all.
import { hash } from 'node:crypto';
import { contentHash } from './hash.ts';
import { PLACE_KEY_LENGTH, type PostingKey, postingKey } from './identifiers.ts';
import { excerpt } from './markup.ts';
import {
  elementsAt,
  holdsConditions,
  namesAt,
  parseValuePath,
  type ValuePath,
  withoutPath,
} from './paths/value-path.ts';
import type { Posting, PostingsOfPlaces, Problem, ReadPosting, RecordTree } from './posting.ts';

/** What becomes of a record with several places. */
export interface PlacesRule {
  /** Where each place is in the record; of several paths, in their order. {@link OWN_PLACE}: the record without its other places. */
  readonly path: string | readonly string[];
  /** Separates several places in one text. */
  readonly split?: string;
  /** `first`: the first place that the site accepts. `each`: a posting for each place. `review`: a person chooses. */
  readonly use: 'first' | 'each' | 'review';
  /** For `each`: the fields that tell the places of a record apart, which become a part of the key. */
  readonly fields?: readonly string[];
}

/** In the list of paths: the record's own fields are a place too. */
export const OWN_PLACE = '.';

/** Whether a record may stand for several postings. */
export const hasPlaces = ({ places }: { readonly places?: PlacesRule }): boolean => places?.use === 'each';

/** A record with more places is refused as a whole: each place costs as much as a record. */
export const MOST_PLACES = 1_000;

/** At most {@link MOST_PLACES} + 1 trees; none if the record has no place at any of the paths. */
export type ReadPlaces = (record: RecordTree) => readonly RecordTree[];

/** Throws `MalformedPathError`. */
export function compilePlaces({ path: sources, split }: Pick<PlacesRule, 'path' | 'split'>): ReadPlaces {
  const paths = [sources].flat().map((source) => (source === OWN_PLACE ? [] : parseValuePath(source)));
  const wholeOf = (place: RecordTree) => (paths.length > 1 && isBlank(place) ? [] : [place]);
  const partsOf = split === undefined ? wholeOf : (place: RecordTree) => splitText(place, split);
  return (record) => {
    const trees: RecordTree[] = [];
    for (const path of paths) {
      // The places at the other paths are left out.
      const others = paths.filter((other) => other !== path && other.length > 0);
      const base = others.reduce<RecordTree>(withoutPath, record);
      for (const tree of treesWithOne(path, 0, base, partsOf)) {
        trees.push(tree);
        if (trees.length > MOST_PLACES) return trees;
      }
    }
    return trees;
  };
}

/** Of several paths, one often leads to an empty value: there is no place then. */
const isBlank = (place: RecordTree): boolean => typeof place === 'string' && place.trim() === '';

type PartsOf = (place: RecordTree) => readonly RecordTree[];

/**
 * Yields copies of the tree with only one place each, in document order. Everything beside the path is shared with the tree.
 * @param depth how many steps of the path led to `tree`.
 */
function* treesWithOne(path: ValuePath, depth: number, tree: RecordTree, partsOf: PartsOf): Generator<RecordTree> {
  for (const element of elementsAt([], tree)) {
    if (!holdsConditions(path[depth - 1], element)) continue;
    const step = path[depth];
    if (step === undefined) yield* partsOf(element);
    else if (!isText(element)) yield* childrenWithOne(path, depth + 1, element, step.name, partsOf);
  }
}

function* childrenWithOne(path: ValuePath, depth: number, element: Element, step: string, partsOf: PartsOf) {
  const names = namesAt(element, step);
  for (const name of names) {
    for (const child of treesWithOne(path, depth, element[name] ?? '', partsOf)) {
      const copy = newElement();
      for (const other of Object.keys(element)) if (!names.includes(other)) copy[other] = element[other] ?? '';
      copy[name] = child;
      yield copy;
    }
  }
}

type Element = { readonly [name: string]: RecordTree };

/** Without a prototype, so that no name in a feed has a special meaning. */
const newElement = (): Record<string, RecordTree> => Object.create(null);

const isText = (tree: RecordTree): tree is string | readonly RecordTree[] =>
  typeof tree === 'string' || Array.isArray(tree);

/** The parts of a text, or of the text of an element that has only attributes beside it; other elements are one place. */
function splitText(place: RecordTree, separator: string): readonly RecordTree[] {
  if (typeof place === 'string') return partsOfText(place, separator);
  if (isText(place)) return [place];
  const text = Object.hasOwn(place, '#text') ? place['#text'] : undefined;
  if (typeof text !== 'string') return [place];
  return partsOfText(text, separator).map((part) => Object.assign(newElement(), place, { '#text': part }));
}

const partsOfText = (text: string, separator: string): readonly string[] =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');

// Makes a posting of each place that a record lists. Its key ends with the place as the site will show it, not with its position or
// its bytes: so it survives other places, another order, and another way of writing the same place.

/** What tells the places of a record apart. */
export interface PlaceIdentity {
  readonly fields: readonly string[];
  readonly stateField: string;
  readonly findState: StateFinder;
}

/**
 * Repeated places collapse; the first one counts.
 * @param key the record's own key. @param readings the record read with each of its places in turn; at least one
 */
export function postingsOfPlaces(
  key: PostingKey,
  readings: Iterable<ReadPosting>,
  identity: PlaceIdentity,
): PostingsOfPlaces {
  const byPlace = new Map<string, ReadPosting>();
  let isUnclear = false;
  for (const reading of readings) {
    isUnclear ||=
      reading.kind === 'invalid' && reading.problems.some(({ field = '' }) => identity.fields.includes(field));
    const place = placeOf(reading, identity);
    if (byPlace.has(place)) continue;
    byPlace.set(place, { ...reading, posting: { ...reading.posting, key: postingKey(key + place) } });
  }
  return { kind: 'places', key, postings: [...byPlace.values()], isUnclear };
}

const DIGEST_CHARACTERS = 16;

function placeOf(
  { posting: { fields } }: ReadPosting,
  { fields: names, stateField, findState }: PlaceIdentity,
): string {
  const parts = names.map((name) => {
    const value = fields[name] ?? '';
    // The site's spelling of a state is a setting, which must not change keys.
    return foldForKey(name === stateField ? (findState(value)?.abbreviation ?? value) : value);
  });
  const place = parts.join(', ').trim();
  if (place.length <= PLACE_KEY_LENGTH) return place;
  const digest = hash('sha256', place, 'hex').slice(0, DIGEST_CHARACTERS);
  // A character outside the basic plane is not cut in two.
  const beginning = [...place.slice(0, PLACE_KEY_LENGTH - DIGEST_CHARACTERS - 1)].filter((each) => each.isWellFormed());
  return `${beginning.join('')}~${digest}`;
}

/** Letters and digits only: neither separators of keys nor those between the parts are left. */
const foldForKey = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

// Makes one posting of a record that lists several places: that of the first place which the site accepts, or one in which a
// person must choose the place.

/** Why a record is refused. */
export const tooManyPlaces = (path: string | readonly string[]): string =>
  `the record has more than ${MOST_PLACES} places at ${[path].flat().join(' and ')}; check the path of places`;

/**
 * The posting of the first place in a valid state, with the fewest problems of all such places: a later place is taken if the
 * city of an earlier one is unclear. If no place is in a valid state, the first posting says so.
 * @param readings the record read with each of its places in turn; at least one
 */
export function firstPlace(readings: Iterable<ReadPosting>, stateField: string): ReadPosting {
  let first: ReadPosting | undefined;
  let best: ReadPosting | undefined;
  let count = 0;
  for (const reading of readings) {
    if (reading.kind === 'posting') return reading;
    count++;
    first ??= reading;
    const isPlaced = reading.problems.every(({ field }) => field !== stateField);
    if (isPlaced && (best?.kind !== 'invalid' || reading.problems.length < best.problems.length)) best = reading;
  }
  if (best !== undefined) return best;
  if (first?.kind !== 'invalid' || count === 1) return first as ReadPosting;
  const problems = first.problems.map((problem) =>
    problem.field === stateField
      ? {
          ...problem,
          message: `none of its places is in a state that the site accepts; the first one: ${problem.message}`,
        }
      : problem,
  );
  return { ...first, problems };
}

/** Only this many values are shown and kept of a field that differs. */
const SHOWN_VALUES = 20;

/**
 * The posting of a record whose places lead to the same fields; otherwise an invalid one, in which each field that differs has
 * all of its values, until a person edits it. If the values change, so does the text, which ends the edit.
 * @param readings the record read with each of its places in turn; at least one
 */
export function onePlaceOrReview(readings: readonly ReadPosting[]): ReadPosting {
  const [first] = readings as readonly [ReadPosting, ...ReadPosting[]];
  const names = [...new Set(readings.flatMap(({ posting }) => Object.keys(posting.fields)))];
  const differing = names.flatMap((name) => {
    const values = [...new Set(readings.map(({ posting }) => posting.fields[name] ?? ''))];
    return values.length === 1 ? [] : [{ name, values }];
  });
  if (differing.length === 0) return first;
  const { key, notes } = first.posting;
  const fields = { ...first.posting.fields };
  const problems: Problem[] = [];
  for (const { name, values } of differing) {
    const listed = values.map((value) => (value === '' ? 'none' : value));
    const rest = listed.length > SHOWN_VALUES ? [`and ${listed.length - SHOWN_VALUES} more`] : [];
    fields[name] = [...listed.slice(0, SHOWN_VALUES), ...rest].join('; ');
    const shown = excerpt(fields[name], 120);
    const message = `${name} differs between the ${readings.length} places of the posting (${shown}); set it to the one to be sent`;
    problems.push({ field: name, value: excerpt(fields[name]), message, choose: true });
  }
  const shared = first.kind === 'invalid' ? first.problems : [];
  const isChosen = (field: string | undefined) => differing.some(({ name }) => name === field);
  problems.push(...shared.filter(({ field }) => !isChosen(field)));
  const posting: Posting = { key, fields, contentHash: contentHash(fields), notes };
  return { kind: 'invalid', posting, problems };
}

// Recognises U.S. states in the spellings that feeds use ("Mass.", "US-MA", "massachusetts, USA").

/** Kinds of places that may count as a state; the configuration selects among them. */
export const STATE_GROUPS = ['states', 'dc', 'territories'] as const;
export type StateGroup = (typeof STATE_GROUPS)[number];

export interface UsState {
  /** The full name: "Massachusetts". */
  readonly name: string;
  /** The postal abbreviation: "MA". */
  readonly abbreviation: string;
  readonly group: StateGroup;
  /** Other spellings: "Mass.". Dots, case and surrounding spaces are ignored. */
  readonly aliases: readonly string[];
}

/** The states as data; `config/us-states.yaml` holds it. */
export interface StateTable {
  readonly states: readonly UsState[];
  /** Spellings of the country before or after a state: "US", "USA". */
  readonly countryNames: readonly string[];
}

/** Finds the state that a text names, if any. */
export type StateFinder = (text: string) => UsState | undefined;

/** A field with more distinct spellings than this does not contain states. */
const MAX_CACHED_SPELLINGS = 1_000;

/** Compiles the lookup. Throws if two states share a spelling. */
export function compileStates(table: StateTable): StateFinder {
  const bySpelling = new Map<string, UsState>();
  for (const state of table.states) {
    for (const spelling of [state.name, state.abbreviation, ...state.aliases].map(spellingOf)) {
      const other = bySpelling.get(spelling);
      if (other !== undefined && other !== state) {
        throw new Error(`"${spelling}" is a spelling of both ${other.name} and ${state.name}`);
      }
      bySpelling.set(spelling, state);
    }
  }
  // Longest first, to strip "United States of America" as a whole.
  const countries = table.countryNames.map(foldSpelling).sort((a, b) => b.length - a.length);

  // A feed of a million postings has only a few hundred spellings of states.
  /** A state's own name may have the country, and another field may add it: "Texas (US), United States". */
  const stateWithCountry = (folded: string): UsState | undefined => {
    const once = withoutCountry(folded, countries);
    return bySpelling.get(spellingOf(once)) ?? bySpelling.get(spellingOf(withoutCountry(once, countries)));
  };
  const found = new Map<string, UsState | undefined>();
  return (text) => {
    // Longer than any spelling, perhaps a whole page: not worth folding.
    if (text.length > 200) return undefined;
    if (found.has(text)) return found.get(text);
    const state = bySpelling.get(spellingOf(text)) ?? stateWithCountry(foldSpelling(text));
    if (found.size < MAX_CACHED_SPELLINGS) found.set(text, state);
    return state;
  };
}

/** "W.Va." and "W. Va." → "wva". Spaces only matter for stripping the country: "Kansus" is not "Kans US". */
const spellingOf = (text: string): string => foldSpelling(text).replaceAll(' ', '');

/** "US-MA" → "us ma", "N.Y." → "ny", " West  Virginia" → "west virginia". */
function foldSpelling(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[.'’ʻʼ\p{M}]/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .toLowerCase();
}

/** Templates may add the country to a state that has it already: "US-MA, US". */
function withoutCountry(folded: string, countries: readonly string[]): string {
  const before = countries.find((country) => folded.startsWith(`${country} `));
  const rest = before === undefined ? folded : folded.slice(before.length + 1);
  const after = countries.find((country) => rest.endsWith(` ${country}`));
  return after === undefined ? rest : rest.slice(0, -after.length - 1);
}
