// How alike texts and places of two postings are: long texts are compared by small sketches, so that hundreds of thousands of
// descriptions need not be kept in memory.
import { hash } from 'node:crypto';
import type { Fields } from '../../posting/posting.ts';
import { bareForm, fieldOf } from '../same-meaning.ts';

/** Minimum hashes of a text's groups of words. */
const SKETCH_SIZE = 24;
const WORDS_TOGETHER = 3;
/** From this share of equal parts on, two texts may be one that was edited. */
export const SIMILAR_TEXT = 0.6;
const MOST_WORDS = 1_500;
const FNV_PRIME = 0x01000193;
const FNV_START = 0x811c9dc5;

/** Signs of lists, which sites make of tags and leave out with them. */
const LIST_SIGNS = /[•·▪◦‣*\-–—]/gu;

/** Equal texts, apart from tags, white space, case and signs of lists, have equal digests. */
export const textDigest = (text: string): string =>
  hash('sha1', bareForm(text).replace(LIST_SIGNS, ''), 'base64').slice(0, 16);

/** A sketch of a text: the share of equal numbers in two sketches estimates the share of equal parts. */
export function sketchOf(text: string): number[] {
  const words = wordsOf(text.replace(/<[/!?A-Za-z][^<>]*>/g, ' ').replace(/&[a-z#\d]{1,10};/gi, ' '), MOST_WORDS);
  const least = new Array<number>(SKETCH_SIZE).fill(0xffffffff);
  const hashes = words.map(hashOf);
  for (let at = 0; at + WORDS_TOGETHER <= Math.max(hashes.length, WORDS_TOGETHER); at++) {
    let group = FNV_START;
    for (let word = 0; word < WORDS_TOGETHER; word++) group = Math.imul(group ^ (hashes[at + word] ?? 0), FNV_PRIME);
    for (let slot = 0; slot < SKETCH_SIZE; slot++) {
      const mixed = mix(group, slot);
      if (mixed < (least[slot] as number)) least[slot] = mixed;
    }
  }
  return least;
}

/** From 0 to 1. */
export function shareOfSketch(one: readonly number[], other: readonly number[]): number {
  const equal = one.filter((value, at) => value === other[at]).length;
  return equal / SKETCH_SIZE;
}

/** Two texts that are just similar have one of so many parts in common in five of six cases, an edited word leaves nearly all. */
const FOUND_BY = 4;
const EQUAL_TOGETHER = 2;

/** Keys by which similar texts are found without comparing all of them, wherever they were edited. */
export const sketchParts = (sketch: readonly number[]): string[] =>
  Array.from({ length: FOUND_BY }, (_, at) => {
    const from = at * EQUAL_TOGETHER;
    return `${at} ${sketch.slice(from, from + EQUAL_TOGETHER).join(' ')}`;
  });

/** The words of a text in lower case, without accents. */
export function wordsOf(text: string, most: number): string[] {
  const folded = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return (folded.match(/[\p{L}\p{N}+#]+/gu) ?? []).slice(0, most);
}

/** From 0 to 1: how many of all words both have. */
export function shareOfWords(one: readonly string[], other: readonly string[]): number {
  const all = new Set([...one, ...other]);
  const others = new Set(other);
  const both = new Set(one.filter((word) => others.has(word)));
  return all.size === 0 ? 0 : both.size / all.size;
}

function hashOf(word: string): number {
  let value = FNV_START;
  for (let at = 0; at < word.length; at++) value = Math.imul(value ^ word.charCodeAt(at), FNV_PRIME);
  return value;
}

function mix(value: number, slot: number): number {
  let mixed = Math.imul(value ^ Math.imul(slot + 1, 0x9e3779b1), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

// Compares where a posting and a site job are: people and sites spell the same city in several ways.

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
