// Learns from what a site shows of sent values how it rewrites them, and says what it would make of other values.
import { decodeEntities } from '../posting/html-entities.ts';
import type { Fields } from '../posting/posting.ts';
import { fieldOf, foldSpace } from './same-value.ts';

/** What turns a sent value into the shown one. `cut` and `padded` have a length, `prefixed` and `suffixed` a text. */
export const REWRITE_KINDS = [
  'exact',
  'line_ends',
  'trimmed',
  'white_space',
  'composed',
  'decomposed',
  'upper_case',
  'lower_case',
  'stripped',
  'decoded',
  'cut',
  'padded',
  'prefixed',
  'suffixed',
  'other',
] as const;
export type RewriteKind = (typeof REWRITE_KINDS)[number];

export interface Rewrite {
  readonly kind: RewriteKind;
  /** The length or the text that belongs to the kind; otherwise empty. */
  readonly detail: string;
}

/** One field's value, as it was sent and as it was shown. */
export interface Observation extends Rewrite {
  readonly field: string;
}

export interface LearntRewrite extends Rewrite {
  /** How often it was observed, as far as that is counted. */
  readonly seen: number;
  /** A person has said of a job that it is the one that was sent. */
  readonly taught?: true;
}

/** What is known of a site, by field. */
export type LearntRewrites = ReadonlyMap<string, readonly LearntRewrite[]>;

/** From so many observations on, a field of which nothing else was observed is known to be shown as it was sent. */
export const MANY_OBSERVATIONS = 16;

/** Longer values teach nothing: they would have to be compared whole. */
const MOST_OBSERVED = 20_000;
/** A shorter rest of a value may be anything. */
const LEAST_CUT = 4;
const MOST_ADDED = 40;

type Making = (value: string) => string;

/** Kinds without a detail, those that change least first. White space around and in a value is left open but in the first. */
const PLAIN: readonly (readonly [RewriteKind, Making])[] = [
  ['line_ends', (value) => value.replace(/\r\n?/g, '\n')],
  ['trimmed', (value) => value.trim()],
  ['white_space', foldSpace],
  ['composed', (value) => value.normalize('NFC')],
  ['decomposed', (value) => value.normalize('NFD')],
  ['upper_case', (value) => value.toUpperCase()],
  ['lower_case', (value) => value.toLowerCase()],
  ['stripped', (value) => value.replace(/<[/!?A-Za-z][^<>]*>/g, ' ')],
  ['decoded', decodeEntities],
];
const MAKINGS: ReadonlyMap<RewriteKind, Making> = new Map(PLAIN);
const LITERAL: ReadonlySet<RewriteKind> = new Set(['exact', 'line_ends', 'trimmed']);

/** Which rewriting explains the shown value; the first that does. */
export function explainValue(sent: string, shown: string): Rewrite {
  if (sent === shown) return { kind: 'exact', detail: '' };
  for (const [kind] of PLAIN) {
    if (explains({ kind, detail: '' }, sent, shown)) return { kind, detail: '' };
  }
  return explainWithDetail(foldSpace(sent), foldSpace(shown)) ?? { kind: 'other', detail: '' };
}

function explainWithDetail(sent: string, shown: string): Rewrite | undefined {
  const length = [...shown].length;
  if (length >= LEAST_CUT && sent.startsWith(shown)) return { kind: 'cut', detail: String(length) };
  if (sent === '' || shown.length <= sent.length || shown.length > sent.length + MOST_ADDED) return undefined;
  const before = shown.slice(0, -sent.length);
  if (shown.endsWith(sent)) {
    if (/^0+$/.test(before) && /^\d+$/.test(sent)) return { kind: 'padded', detail: String(length) };
    return isApart(before.at(-1), sent[0]) ? { kind: 'prefixed', detail: before } : undefined;
  }
  const after = shown.slice(sent.length);
  return shown.startsWith(sent) && isApart(sent.at(-1), after[0]) ? { kind: 'suffixed', detail: after } : undefined;
}

/** `1` before `2` is the number 12, and no `2` with something before it. */
function isApart(one = '', other = ''): boolean {
  const kinds = [one, other].map((letter) => (/\p{N}/u.test(letter) ? 'digit' : /\p{L}/u.test(letter) ? 'letter' : ''));
  return kinds[0] === '' || kinds[0] !== kinds[1];
}

/** What the site makes of a value, by this rewriting; `undefined` where nobody knows. */
export function rewritten({ kind, detail }: Rewrite, sent: string): string | undefined {
  switch (kind) {
    case 'other':
      return undefined;
    case 'cut':
      return [...foldSpace(sent)].slice(0, Number(detail)).join('');
    case 'padded':
      return /^\d+$/.test(sent.trim()) ? sent.trim().padStart(Number(detail), '0') : sent;
    case 'prefixed':
      return detail + sent.trim();
    case 'suffixed':
      return sent.trim() + detail;
    default:
      return MAKINGS.get(kind)?.(sent) ?? sent;
  }
}

function explains(rewrite: Rewrite, sent: string, shown: string): boolean {
  const made = rewritten(rewrite, sent);
  if (made === undefined) return false;
  return LITERAL.has(rewrite.kind) ? made === shown : foldSpace(made) === foldSpace(shown);
}

/**
 * What one job shows of what was sent. Fields that it doesn't show say nothing.
 * @param kept the same as it may be stored: an addition that may not be stored teaches nothing.
 */
export function observe(sent: Fields, shown: Fields, kept = shown): Observation[] {
  return Object.entries(sent).flatMap(([field, value]) => {
    const says = fieldOf(shown, field);
    if (says === undefined || Math.max(says.length, value.length) > MOST_OBSERVED) return [];
    const rewrite = explainValue(value, says);
    const isAddition = rewrite.kind === 'prefixed' || rewrite.kind === 'suffixed';
    if (isAddition && fieldOf(kept, field) !== says) return [];
    return [{ field: field.replaceAll('_', '-'), ...rewrite }];
  });
}

/** Whether the site, as far as it is known, makes the shown value of the sent one. */
export function isRewriting(learnt: LearntRewrites, field: string, sent: string, shown: string): boolean {
  return trusted(learnt, field).some((rewrite) => explains(rewrite, sent, shown));
}

/** All that the site is known to make of a value, white space folded. */
export const rewritings = (learnt: LearntRewrites, field: string, sent: string): string[] =>
  trusted(learnt, field).flatMap((rewrite) => foldSpace(rewritten(rewrite, sent) ?? sent));

/** Whether the site is known to show this field as it was sent, and never otherwise. */
export function isShownExactly(learnt: LearntRewrites, field: string): boolean {
  const known = of(learnt, field);
  return known.length === 1 && known.every(({ kind, seen }) => kind === 'exact' && seen >= MANY_OBSERVATIONS);
}

/**
 * Something added makes one value of another, so it counts only where the site adds it to each, or where a person has said
 * so: a site may begin or cease to add it, and keeps what it made before.
 */
function trusted(learnt: LearntRewrites, field: string): readonly LearntRewrite[] {
  const known = of(learnt, field);
  const added = known.filter(({ kind }) => kind === 'prefixed' || kind === 'suffixed');
  if (added.length === 1 && known.length === 1) return known;
  return known.filter((rewrite) => rewrite.taught === true || !added.includes(rewrite));
}

const of = (learnt: LearntRewrites, field: string): readonly LearntRewrite[] =>
  learnt.get(field.replaceAll('_', '-')) ?? [];
