// Tells whether a value that a site shows means what was sent, although it is written differently: times, numbers, truth values.
import { MONTHS } from '../posting/dates.ts';
import { decodeHtmlEntities } from '../posting/markup.ts';
import type { Fields } from '../posting/posting.ts';

/**
 * What a site states about a value. `nil`: that it has none. `date` and `instant` are compared alike, but only a stated `date`
 * leaves out the time of day that was sent.
 */
export type ValueType = 'text' | 'number' | 'float' | 'boolean' | 'date' | 'instant' | 'nil';

/** The types that a site states, by field in its folded form (`-` for `_`). Fields without one are absent. */
export type StatedTypes = Readonly<Record<string, ValueType>>;

export function typeOf(types: StatedTypes | undefined, name: string): ValueType | undefined {
  const folded = name.replaceAll('_', '-');
  return types !== undefined && Object.hasOwn(types, folded) ? types[folded] : undefined;
}

/**
 * Compares by the type that the site states, or else by what both texts certainly are. White space never counts.
 *
 * | type              | the same                                                                                    |
 * | ----------------- | ------------------------------------------------------------------------------------------- |
 * | number, stated    | `20.50` and `2.05e1`, `007` and `7`, `1,500` and `1500`                                       |
 * | number, not stated | `20.50` and `20.5`; `007`, `1e5` and `+5` may be identifiers and count as texts             |
 * | boolean, stated   | `1`, `true`, `t`, `yes`, `y` and `on`; their opposites                                        |
 * | boolean, not stated | `1` for `true` or `yes`, and the reverse; their opposites                                   |
 * | time              | the same instant in any zone; one without a zone: the same time of day                       |
 * | date              | the same day, or midnight of it in the zone that is shown; stated: without the time          |
 * | text, nil         | the same text; nothing, an empty text and `nil`                                              |
 */
export function meansTheSame(sent: string, shown: string | undefined, type?: ValueType): boolean {
  if (sent === shown) return true;
  const ofSent = new Set(meaningsOfSent(sent));
  return meaningsOfShown(shown ?? '', type).some((meaning) => ofSent.has(meaning));
}

/** Longer values are texts and nothing else. */
const MOST_OF_VALUE = 60;

/** Everything that a sent value may mean: a shown value means the same if the two have a meaning in common. */
export function meaningsOfSent(value: string): string[] {
  const text = foldSpace(value);
  if (text === '' || text.length > MOST_OF_VALUE) return [`text ${text}`];
  const time = readMoment(text);
  return [
    `text ${text}`,
    ...numberMeanings(text, 'number'),
    ...numberMeanings(text, 'float'),
    ...plainNumber(text),
    ...truthOf(text, TRUTH).map((truth) => `boolean ${truth}`),
    ...truthOf(text, WORDS).flatMap((truth) => [`word ${text.toLowerCase()}`, `digit for ${truth}`]),
    ...truthOf(text, DIGITS).map((truth) => `word for ${truth}`),
    ...(time === undefined ? [] : meaningsOfSentTime(time)),
  ];
}

/** Everything that a shown value of this type means; without a type, what its text certainly is. */
export function meaningsOfShown(value: string, type?: ValueType): string[] {
  const text = type === 'nil' ? '' : foldSpace(value);
  const meanings = [`text ${text}`];
  if (text === '' || text.length > MOST_OF_VALUE || type === 'text') return meanings;
  if (type === 'number' || type === 'float')
    return [...meanings, ...numberMeanings(text, 'number'), ...(type === 'float' ? numberMeanings(text, type) : [])];
  if (type === 'boolean') return [...meanings, ...truthOf(text, TRUTH).map((truth) => `boolean ${truth}`)];
  const time = readMoment(text);
  if (time !== undefined) return [...meanings, ...meaningsOfShownTime(time, type === 'date')];
  if (type !== undefined) return meanings;
  return [
    ...meanings,
    ...plainNumber(text),
    ...truthOf(text, WORDS).flatMap((truth) => [`word ${text.toLowerCase()}`, `word for ${truth}`]),
    ...truthOf(text, DIGITS).map((truth) => `digit for ${truth}`),
  ];
}

/** One text for everything that is certainly the same value, whatever type is stated. */
export function plainMeaning(value: string): string {
  const text = foldSpace(value);
  if (text.length > MOST_OF_VALUE) return text;
  const time = readMoment(text);
  if (time?.offset !== undefined) return instantOf(time);
  return plainNumber(text)[0] ?? text;
}

const NUMBER = /^[+-]?(?:\d+|\d{1,3}(?:,\d{3})+)?(?:\.\d*)?(?:e[+-]?\d{1,4})?$/i;
/** Certainly a number, and no identifier: without leading zeros, signs of plus and exponents. */
const PLAIN_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

const numberMeanings = (text: string, type: 'number' | 'float'): string[] => {
  if (!NUMBER.test(text) || !/\d/.test(text)) return [];
  return [`${type} ${type === 'float' ? Number(text.replaceAll(',', '')) : exactNumber(text)}`];
};

const plainNumber = (text: string): string[] => (PLAIN_NUMBER.test(text) ? [`plain ${exactNumber(text)}`] : []);

/** The digits without leading and trailing zeros, and the power of ten: numbers of any length are compared exactly. */
function exactNumber(text: string): string {
  const [, sign, mantissa = '', exponent = '0'] = /^([+-]?)([^e]*)(?:e(.*))?$/i.exec(text.replaceAll(',', '')) ?? [];
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  if (kept === '') return '0';
  return `${sign === '-' ? '-' : ''}${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`;
}

type Truths = readonly [ReadonlySet<string>, ReadonlySet<string>];

const TRUTH: Truths = [new Set(['1', 'true', 't', 'yes', 'y', 'on']), new Set(['0', 'false', 'f', 'no', 'n', 'off'])];
const WORDS: Truths = [new Set(['true', 'yes']), new Set(['false', 'no'])];
const DIGITS: Truths = [new Set(['1']), new Set(['0'])];

function truthOf(text: string, [yes, no]: Truths): ('yes' | 'no')[] {
  const word = text.toLowerCase();
  return [...(yes.has(word) ? ['yes' as const] : []), ...(no.has(word) ? ['no' as const] : [])];
}

/** A date, perhaps with a time of day, perhaps with a zone. */
interface Moment {
  /** The date and the time of day in seconds, as if they were UTC. */
  readonly wallSeconds: number;
  /** The fraction of a second: digits without trailing zeros. */
  readonly fraction: string;
  readonly hasTime: boolean;
  /** Minutes east of UTC; `undefined`: none is named. */
  readonly offset: number | undefined;
}

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)? ?(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?)?$/i;
/** RFC 5322. */
const MAIL = /^(?:[a-z]{3}, ?)?(\d{1,2}) ([a-z]{3}) (\d{4}) (\d\d):(\d\d)(?::(\d\d))? (GMT|UTC|[+-]\d{4})$/i;

function readMoment(text: string): Moment | undefined {
  const iso = ISO.exec(text);
  if (iso !== null) {
    const [, year, month, day, ...rest] = iso;
    return momentOf([Number(year), Number(month), Number(day)], rest);
  }
  const mail = MAIL.exec(text);
  if (mail === null) return undefined;
  const [, day, month = '', year, hour, minute, second, zone] = mail;
  const date = [Number(year), MONTHS.indexOf(month.toLowerCase()) + 1, Number(day)] as const;
  return momentOf(date, [hour, minute, second, undefined, zone]);
}

function momentOf(
  [year, month, day]: readonly [number, number, number],
  [hour, minute, second = '0', fraction = '', zone]: readonly (string | undefined)[],
): Moment | undefined {
  const time = [Number(hour ?? 0), Number(minute ?? 0), Number(second)] as const;
  const at = new Date(Date.UTC(year, month - 1, day, ...time));
  const isReal =
    at.getUTCMonth() === month - 1 && at.getUTCDate() === day && time[0] < 24 && time[1] < 60 && time[2] < 60;
  if (!isReal) return undefined;
  return {
    wallSeconds: at.getTime() / 1000,
    fraction: fraction.replace(/0+$/, ''),
    hasTime: hour !== undefined,
    offset: zone === undefined ? undefined : offsetOf(zone),
  };
}

function offsetOf(zone: string): number {
  const [, sign, hours, minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? [];
  return sign === undefined ? 0 : (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

const DAY = 86_400;
const dayOf = ({ wallSeconds }: Moment): number => Math.floor(wallSeconds / DAY);
const utcSeconds = ({ wallSeconds, offset = 0 }: Moment): number => wallSeconds - offset * 60;
const instantOf = (moment: Moment): string => `instant ${utcSeconds(moment)}.${moment.fraction}`;

/** A site may keep less of the fraction than was sent, and round it to the second. */
function meaningsOfSentTime(moment: Moment): string[] {
  const { wallSeconds, fraction, hasTime, offset } = moment;
  if (!hasTime) return [`date ${dayOf(moment)}`];
  const of = (kind: string, seconds: number): string[] => {
    const rounded = /^[5-9]/.test(fraction) ? [`${kind} ${seconds + 1}.`] : [];
    const shorter = [0, 3, 6].map((digits) => fraction.slice(0, digits).replace(/0+$/, ''));
    return [...[fraction, ...shorter].map((part) => `${kind} ${seconds}.${part}`), ...rounded];
  };
  const date = `date of ${dayOf(moment)}`;
  if (offset === undefined) return [date, ...of('without zone', wallSeconds), ...of('zone added', wallSeconds)];
  return [
    date,
    ...of('instant', utcSeconds(moment)),
    ...of('zone left out', wallSeconds),
    ...of('zone left out', utcSeconds(moment)),
  ];
}

function meaningsOfShownTime(moment: Moment, isDate: boolean): string[] {
  const { wallSeconds, fraction, hasTime, offset } = moment;
  if (!hasTime) return [`date ${dayOf(moment)}`, ...(isDate ? [`date of ${dayOf(moment)}`] : [])];
  const isMidnight = wallSeconds % DAY === 0 && fraction === '';
  const date = isMidnight || isDate ? [`date ${dayOf(moment)}`] : [];
  const wall = `${wallSeconds}.${fraction}`;
  if (offset === undefined) return [...date, `without zone ${wall}`, `zone left out ${wall}`];
  return [...date, instantOf(moment), `zone added ${wall}`];
}

// Compares a sent value with the value that a site shows: sites trim, cut, re-case and rewrite what they store.

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
