// Learns how a site rewrites values by comparing sent and shown ones, and predicts what it would make of others.
import { decodeHtmlEntities } from '../posting/markup.ts';
import type { Fields } from '../posting/posting.ts';
import { fieldOf, foldSpace, MIN_CUT_LENGTH, meansTheSame, type StatedTypes, typeOf } from './same-meaning.ts';

/** How a sent value becomes the shown one. `cut` and `padded` carry a length, `prefixed` and `suffixed` a text. */
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
  /** The length or text that the kind carries; otherwise empty. */
  readonly detail: string;
}

/** How the site rewrote the value of one field. */
export interface Observation extends Rewrite {
  readonly field: string;
}

export interface LearntRewrite extends Rewrite {
  /** How often it was observed, up to a limit. */
  readonly seen: number;
  /** Learned from a person who confirmed that a job is the one that was sent. */
  readonly taught?: true;
}

/** Rewrites known for a site, by field. */
export type LearntRewrites = ReadonlyMap<string, readonly LearntRewrite[]>;

/** After this many observations without any other rewrite, a field is known to be shown exactly as sent. */
export const MANY_OBSERVATIONS = 16;

/** Longer values are ignored because they would have to be compared in full. */
const MAX_OBSERVED_LENGTH = 20_000;
const MAX_ADDED_LENGTH = 40;

type Rewriter = (value: string) => string;

/** Kinds without a detail, least change first. All but the literal ones ignore white space. */
const PLAIN_REWRITERS: readonly (readonly [RewriteKind, Rewriter])[] = [
  ['line_ends', (value) => value.replace(/\r\n?/g, '\n')],
  ['trimmed', (value) => value.trim()],
  ['white_space', foldSpace],
  ['composed', (value) => value.normalize('NFC')],
  ['decomposed', (value) => value.normalize('NFD')],
  ['upper_case', (value) => value.toUpperCase()],
  ['lower_case', (value) => value.toLowerCase()],
  ['stripped', (value) => value.replace(/<[/!?A-Za-z][^<>]*>/g, ' ')],
  ['decoded', decodeHtmlEntities],
];
const REWRITERS: ReadonlyMap<RewriteKind, Rewriter> = new Map(PLAIN_REWRITERS);
const IS_PLAIN: ReadonlySet<RewriteKind> = new Set<RewriteKind>(['exact', ...REWRITERS.keys()]);
const LITERAL: ReadonlySet<RewriteKind> = new Set(['exact', 'line_ends', 'trimmed']);

/** The first rewrite that explains the shown value. */
export function explainValue(sent: string, shown: string): Rewrite {
  if (sent === shown) return { kind: 'exact', detail: '' };
  for (const [kind] of PLAIN_REWRITERS) {
    if (explains({ kind, detail: '' }, sent, shown)) return { kind, detail: '' };
  }
  return explainWithDetail(foldSpace(sent), foldSpace(shown)) ?? { kind: 'other', detail: '' };
}

function explainWithDetail(sent: string, shown: string): Rewrite | undefined {
  const length = [...shown].length;
  if (length >= MIN_CUT_LENGTH && sent.startsWith(shown)) return { kind: 'cut', detail: String(length) };
  if (sent === '' || shown.length <= sent.length || shown.length > sent.length + MAX_ADDED_LENGTH) return undefined;
  const before = shown.slice(0, -sent.length);
  if (isSameLetters(shown.slice(-sent.length), sent)) {
    if (/^0+$/.test(before) && /^\d+$/.test(sent)) return { kind: 'padded', detail: String(length) };
    return isApart(before.at(-1), sent[0]) ? { kind: 'prefixed', detail: before } : undefined;
  }
  const after = shown.slice(sent.length);
  return isSameLetters(shown.slice(0, sent.length), sent) && isApart(sent.at(-1), after[0])
    ? { kind: 'suffixed', detail: after }
    : undefined;
}

/** A site that adds to a value may also change its case. */
const isSameLetters = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** `1` before `2` makes the number 12, not a prefixed `2`. */
function isApart(one = '', other = ''): boolean {
  const kinds = [one, other].map((letter) => (/\p{N}/u.test(letter) ? 'digit' : /\p{L}/u.test(letter) ? 'letter' : ''));
  return kinds[0] === '' || kinds[0] !== kinds[1];
}

/** The value after this rewrite; `undefined` if it can't be predicted. */
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
      return REWRITERS.get(kind)?.(sent) ?? sent;
  }
}

function explains(rewrite: Rewrite, sent: string, shown: string): boolean {
  const made = rewritten(rewrite, sent);
  if (made === undefined) return false;
  if (LITERAL.has(rewrite.kind)) return made === shown;
  const isSame = isAddition(rewrite) ? isSameLetters : Object.is;
  return isSame(foldSpace(made), foldSpace(shown));
}

const isAddition = ({ kind }: Rewrite): boolean => kind === 'prefixed' || kind === 'suffixed';

/**
 * Compares what was sent with what one job shows. Fields that it does not show are skipped.
 * @param kept the shown fields in the form that may be stored: an addition that may not be stored is ignored.
 */
export function observe(sent: Fields, shown: Fields, kept = shown, types?: StatedTypes): Observation[] {
  return Object.entries(sent).flatMap(([field, value]) => {
    const says = fieldOf(shown, field);
    if (says === undefined || Math.max(says.length, value.length) > MAX_OBSERVED_LENGTH) return [];
    const rewrite = explainValue(value, says);
    // A number or a time in another form says nothing about other values.
    if (!IS_PLAIN.has(rewrite.kind) && meansTheSame(value, says, typeOf(types, field))) return [];
    if (isAddition(rewrite) && fieldOf(kept, field) !== says) return [];
    return [{ field: field.replaceAll('_', '-'), ...rewrite }];
  });
}

/** Whether a known rewrite of this site turns the sent value into the shown one. */
export function isRewriting(learnt: LearntRewrites, field: string, sent: string, shown: string): boolean {
  return trusted(learnt, field).some((rewrite) => explains(rewrite, sent, shown));
}

/** Everything that known rewrites make of a value, with white space folded. */
export const rewritings = (learnt: LearntRewrites, field: string, sent: string): string[] =>
  trusted(learnt, field).flatMap((rewrite) => {
    const cases = isAddition(rewrite) ? [sent, sent.toUpperCase(), sent.toLowerCase()] : [sent];
    return cases.map((value) => foldSpace(rewritten(rewrite, value) ?? sent));
  });

/** Whether the site is known to always show this field exactly as sent. */
export function isShownExactly(learnt: LearntRewrites, field: string): boolean {
  const known = of(learnt, field);
  return known.length === 1 && known.every(({ kind, seen }) => kind === 'exact' && seen >= MANY_OBSERVATIONS);
}

/** Whether the site has shown this field of any job. */
export const isEverShown = (learnt: LearntRewrites, field: string): boolean => of(learnt, field).length > 0;

/** Whether the site has always shown this field with another value than was sent, in no way that can be predicted. */
export function isShownUnpredictably(learnt: LearntRewrites, field: string): boolean {
  const known = of(learnt, field);
  return known.length === 1 && known.every(({ kind, seen }) => kind === 'other' && seen >= MANY_OBSERVATIONS);
}

/**
 * A prefix or suffix can turn one valid value into another, so it counts only if the site adds it to every value or a
 * person confirmed it. A site may start or stop adding it, and keeps the jobs it stored before.
 */
function trusted(learnt: LearntRewrites, field: string): readonly LearntRewrite[] {
  const known = of(learnt, field);
  const added = known.filter(isAddition);
  if (added.length === 1 && known.length === 1) return known;
  return known.filter((rewrite) => rewrite.taught === true || !added.includes(rewrite));
}

const of = (learnt: LearntRewrites, field: string): readonly LearntRewrite[] =>
  learnt.get(field.replaceAll('_', '-')) ?? [];
