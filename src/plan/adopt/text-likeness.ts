// Compares long texts by small sketches, so that hundreds of thousands of descriptions need not be kept in memory.
import { hash } from 'node:crypto';
import { bareForm } from '../same-value.ts';

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

/** By these, similar texts are found without comparing all, wherever they were edited. */
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
