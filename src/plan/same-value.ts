// Compares a sent value with the value that a site shows: sites trim, cut, re-case and rewrite what they store.
import { decodeHtmlEntities } from '../posting/html-entities.ts';
import type { Fields } from '../posting/posting.ts';

/**
 * What a site changed in a value: white space and line ends, Unicode form and accents, tags and character references,
 * letter case, or a cut-off end.
 */
const VALUE_CHANGES = ['space', 'unicode', 'markup', 'case', 'cut'] as const;
export type ValueChange = (typeof VALUE_CHANGES)[number];

/** Longer texts are compared only this far, so a long description costs no more than a page. */
const MAX_COMPARED_LENGTH = 20_000;
/** A shorter prefix proves nothing, unless it is most of the value. */
export const MIN_CUT_LENGTH = 4;

/** Each step removes one kind of change from both sides. Applied in this order. */
const STEPS: readonly (readonly [Exclude<ValueChange, 'cut'>, (text: string) => string])[] = [
  ['markup', (text) => decodeFully(text).replace(/<[/!?A-Za-z][^<>]*>/g, ' ')],
  ['unicode', plainLetters],
  ['case', (text) => text.toUpperCase().toLowerCase()],
  ['space', (text) => text.replace(/\s+/g, '')],
];

/**
 * The changes that turn `sent` into `shown`: none if they are equal, `undefined` if they are different values. Values
 * that differ only by the usual changes count as the same, so "different" is certain and "the same" is not.
 */
export function compareValues(sent: string, shown: string): readonly ValueChange[] | undefined {
  if (sent === shown) return [];
  const long = Math.max(sent.length, shown.length) > MAX_COMPARED_LENGTH;
  const texts = [sent.slice(0, MAX_COMPARED_LENGTH), shown.slice(0, MAX_COMPARED_LENGTH)] as const;
  const [bareSent, bareShown] = texts.map((text) => bareForm(text)) as [string, string];
  const cut = bareSent !== bareShown;
  if (cut && !isBeginning(bareShown, bareSent) && !(long && isBeginning(bareSent, bareShown))) return undefined;
  const needed = STEPS.map(([kind]) => kind).filter((kind) => !alikeWithout(kind, texts, cut));
  const isCut = cut && !(long && shown.length >= MAX_COMPARED_LENGTH);
  return VALUE_CHANGES.filter((kind) => (kind === 'cut' ? isCut : needed.includes(kind)));
}

/** Values with the same bare form differ only by the usual changes, other than a cut. */
export const bareForm = (text: string): string => formWithout(undefined, text);

/** The bare form of a reference, in which sites also drop punctuation and leading zeros. */
export function referenceForm(text: string): string {
  const bare = bareForm(text);
  return bare.replace(/[^\p{L}\p{N}]+/gu, '').replace(/^0+(?=.)/, '') || bare || text;
}

/**
 * How a shown reference relates to a sent one: `exact`: equal but for white space; `form`: another usual form of it;
 * `cut`: its beginning; `other`: a different reference.
 */
export type ReferenceLikeness = 'exact' | 'form' | 'cut' | 'other';

export function compareReferences(sent: string, shown: string): ReferenceLikeness {
  const texts = [sent.slice(0, MAX_COMPARED_LENGTH), shown.slice(0, MAX_COMPARED_LENGTH)] as const;
  if (sent === shown || (sent.length === texts[0].length && foldSpace(sent) === foldSpace(texts[1]))) return 'exact';
  const [sentForm, shownForm] = [referenceForm(texts[0]), referenceForm(texts[1])];
  if (sentForm === shownForm) return 'form';
  return isBeginning(shownForm, sentForm) ? 'cut' : 'other';
}

export const foldSpace = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** The value of a field. `-` and `_` in names are equivalent in responses. */
export function fieldOf(fields: Fields, name: string): string | undefined {
  let folded: string | undefined;
  for (const candidate of Object.keys(fields)) {
    if (candidate === name) return fields[candidate];
    // Folding keeps the length.
    if (candidate.length !== name.length) continue;
    folded ??= name.replaceAll('_', '-');
    if (candidate.replaceAll('_', '-') === folded) return fields[candidate];
  }
  return undefined;
}

/** Whether `part` is `whole` with its end cut off, with or without an ellipsis. */
function isBeginning(part: string, whole: string): boolean {
  const kept = withoutOmission(part);
  return kept.length >= Math.min(MIN_CUT_LENGTH, Math.ceil(whole.length / 2)) && kept !== '' && whole.startsWith(kept);
}

/** The text without a trailing ellipsis. */
export const withoutOmission = (text: string): string => text.replace(/(\.{2,3}|…|\[\.{2,3}\])$/, '');

function formWithout(left: ValueChange | undefined, text: string): string {
  return STEPS.reduce((form, [kind, step]) => (kind === left ? form : step(form)), text);
}

function alikeWithout(kind: ValueChange, [sent, shown]: readonly [string, string], cut: boolean): boolean {
  const forms = [formWithout(kind, sent), formWithout(kind, shown)] as const;
  return cut ? isBeginning(forms[1], forms[0]) : forms[0] === forms[1];
}

/** Double encoding occurs as well: `&amp;amp;`. */
function decodeFully(text: string): string {
  let decoded = text;
  for (let round = 0; round < 3 && decoded.includes('&'); round++) decoded = decodeHtmlEntities(decoded);
  return decoded;
}

/** One Unicode form without accents, invisible characters and the placeholders sites use for what they can't store. */
function plainLetters(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/(?!\s)[\p{M}\p{Cf}\p{Cc}\p{Co}\p{So}?\uFFFD]/gu, '')
    .replace(/[‘’‚′`´]/g, "'")
    .replace(/[“”„″«»]/g, '"')
    .replace(/[‐‑‒–—−]/g, '-');
}
