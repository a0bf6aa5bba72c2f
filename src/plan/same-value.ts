// Compares a value as it was sent with the same value as a site shows it: sites trim, cut, re-case and rewrite what they store.
import { decodeEntities } from '../posting/html-entities.ts';
import type { Fields } from '../posting/posting.ts';

/**
 * What a site did to a value: white space and line ends, Unicode form and accents, tags and character references,
 * upper and lower case, its end cut off.
 */
export const VALUE_CHANGES = ['space', 'unicode', 'markup', 'case', 'cut'] as const;
export type ValueChange = (typeof VALUE_CHANGES)[number];

/** Longer texts are compared as far as this, so that a long description costs no more than a page. */
const MOST_COMPARED = 20_000;
/** A shorter beginning of a value proves nothing, unless it is most of the value. */
const LEAST_CUT = 4;

/** Each takes one kind of change out of both sides. They are done in this order. */
const STEPS: readonly (readonly [Exclude<ValueChange, 'cut'>, (text: string) => string])[] = [
  ['markup', (text) => decodeFully(text).replace(/<[/!?A-Za-z][^<>]*>/g, ' ')],
  ['unicode', plainLetters],
  ['case', (text) => text.toUpperCase().toLowerCase()],
  ['space', (text) => text.replace(/\s+/g, '')],
];

/**
 * What turns `sent` into `shown`: nothing where they are equal, `undefined` where they are different values. Everything
 * that usual changes leave alike is the same value here, so "different" is certain and "the same" may not be.
 */
export function compareValues(sent: string, shown: string): readonly ValueChange[] | undefined {
  if (sent === shown) return [];
  const long = Math.max(sent.length, shown.length) > MOST_COMPARED;
  const texts = [sent.slice(0, MOST_COMPARED), shown.slice(0, MOST_COMPARED)] as const;
  const [bareSent, bareShown] = texts.map((text) => bareForm(text)) as [string, string];
  const cut = bareSent !== bareShown;
  if (cut && !isBeginning(bareShown, bareSent) && !(long && isBeginning(bareSent, bareShown))) return undefined;
  const needed = STEPS.map(([kind]) => kind).filter((kind) => !alikeWithout(kind, texts, cut));
  const isCut = cut && !(long && shown.length >= MOST_COMPARED);
  return VALUE_CHANGES.filter((kind) => (kind === 'cut' ? isCut : needed.includes(kind)));
}

/** Values that this form leaves equal differ by usual changes only, other than a cut. */
export const bareForm = (text: string): string => formWithout(undefined, text);

/** The same for references, in which sites also drop punctuation and leading zeros. */
export function referenceForm(text: string): string {
  const bare = bareForm(text);
  return bare.replace(/[^\p{L}\p{N}]+/gu, '').replace(/^0+(?=.)/, '') || bare || text;
}

/**
 * How a shown reference relates to one that was sent: `exact` but for white space around and in it, `form`: another usual
 * form of it, `cut`: its beginning, `other`: another reference.
 */
export type ReferenceLikeness = 'exact' | 'form' | 'cut' | 'other';

export function compareReferences(sent: string, shown: string): ReferenceLikeness {
  const texts = [sent.slice(0, MOST_COMPARED), shown.slice(0, MOST_COMPARED)] as const;
  if (sent === shown || (sent.length === texts[0].length && foldSpace(sent) === foldSpace(texts[1]))) return 'exact';
  const [sentForm, shownForm] = [referenceForm(texts[0]), referenceForm(texts[1])];
  if (sentForm === shownForm) return 'form';
  return isBeginning(shownForm, sentForm) ? 'cut' : 'other';
}

export const foldSpace = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** The value of a field. Names with `-` and `_` are the same name when a response is read. */
export function fieldOf(fields: Fields, name: string): string | undefined {
  const folded = name.replaceAll('_', '-');
  for (const [candidate, value] of Object.entries(fields)) {
    if (candidate === name || candidate.replaceAll('_', '-') === folded) return value;
  }
  return undefined;
}

/** Whether `part` is what is left of `whole` after its end was cut off, with or without marks of omission. */
function isBeginning(part: string, whole: string): boolean {
  const kept = withoutOmission(part);
  return kept.length >= Math.min(LEAST_CUT, Math.ceil(whole.length / 2)) && kept !== '' && whole.startsWith(kept);
}

/** Without the dots at its end that say that it was cut. */
export const withoutOmission = (text: string): string => text.replace(/(\.{2,3}|…|\[\.{2,3}\])$/, '');

function formWithout(left: ValueChange | undefined, text: string): string {
  return STEPS.reduce((form, [kind, step]) => (kind === left ? form : step(form)), text);
}

function alikeWithout(kind: ValueChange, [sent, shown]: readonly [string, string], cut: boolean): boolean {
  const forms = [formWithout(kind, sent), formWithout(kind, shown)] as const;
  return cut ? isBeginning(forms[1], forms[0]) : forms[0] === forms[1];
}

/** Twice encoded is met as well: `&amp;amp;`. */
function decodeFully(text: string): string {
  let decoded = text;
  for (let round = 0; round < 3 && decoded.includes('&'); round++) decoded = decodeEntities(decoded);
  return decoded;
}

/** One Unicode form, without accents, invisible characters, and what sites put in the place of what they can't store. */
function plainLetters(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/(?!\s)[\p{M}\p{Cf}\p{Cc}\p{Co}\p{So}?\uFFFD]/gu, '')
    .replace(/[‘’‚′`´]/g, "'")
    .replace(/[“”„″«»]/g, '"')
    .replace(/[‐‑‒–—−]/g, '-');
}
