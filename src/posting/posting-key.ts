// Reads a posting key from the texts at the key's paths, or explains why the record has none. Parameters that tell
// where a visitor comes from are no part of a key that is an address.
import type { KeyRule, KeyShape } from './field-mapping.ts';
import { compileSource } from './field-mapping.ts';
import { MAX_KEY_LENGTH, PLACE_KEY_LENGTH, type PostingKey, postingKey } from './identifiers.ts';
import { excerpt } from './markup.ts';
import { compilePattern } from './pattern.ts';
import type { Problem, RecordTree } from './posting.ts';

/** The key, or the reasons why the record has none. */
export type KeyReading =
  | { readonly kind: 'key'; readonly key: PostingKey }
  | { readonly kind: 'no key'; readonly problems: readonly Problem[] };

/**
 * Compiles a key rule into a reader; of the key of a record with places, only the last part is missing. Throws
 * `MalformedPathError` and `MalformedPatternError`.
 */
export function compileKey(rule: KeyRule): (record: RecordTree) => KeyReading {
  const parts = rule.paths.map((path) => ({ path, read: compileSource({ kind: 'paths', paths: [path] }) }));
  const shape = rule.as === undefined ? undefined : compileShape(rule.as);
  return (record) => {
    const found = parts.map(({ read }) => read(record));
    const texts = shape === undefined ? found : found.map(shape);
    const problems = parts.flatMap(({ path }, index) =>
      texts[index] === '' ? [noKey(path, found[index] ?? '', rule.as)] : [],
    );
    if (problems.length > 0) return { kind: 'no key', problems };
    if (rule.ofPlaces === true)
      return checkKey(`${texts.map(escapePart).join('|')}|`, MAX_KEY_LENGTH - PLACE_KEY_LENGTH);
    return checkKey(texts.length === 1 ? (texts[0] ?? '') : texts.map(escapePart).join('|'));
  };
}

/** Returns an empty text for one without a key. */
function compileShape(shape: KeyShape): (text: string) => string {
  if (shape.kind === 'address') return withoutTracking;
  const { find, groups } = compilePattern(shape.pattern);
  return (text) => {
    const found = find(text);
    return found.kind === 'match' ? (found.texts[groups === 0 ? 0 : 1] ?? '').trim() : '';
  };
}

function noKey(path: string, found: string, shape: KeyShape | undefined): Problem {
  if (found === '' || shape?.kind !== 'match') return { message: `the record has no key: no value found at ${path}` };
  return {
    value: excerpt(found),
    message: `the record has no key: the text at ${path} does not match ${shape.pattern}; check key_as`,
  };
}

/** Whether a problem is that a record has no key, or none that can be used. */
export const isOfKey = ({ message }: Pick<Problem, 'message'>): boolean =>
  /^the (?:record has no )?key\b/.test(message);

/** Keeps `a|b` + `c` and `a` + `b|c` different keys. */
const escapePart = (text: string): string => text.replaceAll('%', '%25').replaceAll('|', '%7C');

/**
 * Characters that databases and logs do not preserve. They are refused, not removed: removal could make two keys equal.
 */
const UNSTORABLE = /[\p{Cc}\p{Cs}\uFFFE\uFFFF]/u;

/**
 * A key is taken from the feed verbatim, except for surrounding spaces: `007` is not `7`, `a` is not `A`.
 */
export function checkKey(text: string, most = MAX_KEY_LENGTH): KeyReading {
  const key = text.trim();
  const refuse = (message: string): KeyReading => ({ kind: 'no key', problems: [{ value: excerpt(key), message }] });
  if (key === '') return refuse('the key is empty');
  // n characters take n to 2n code units, so count characters only if the length is in that range.
  const isTooLong = key.length > 2 * most || (key.length > most && [...key].length > most);
  if (isTooLong) return refuse(`the key is longer than ${most} characters; check the key path`);
  if (UNSTORABLE.test(key)) return refuse('the key contains control characters, such as a line break');
  return { kind: 'key', key: postingKey(key) };
}

// Parameters of addresses that tell where a visitor comes from. They change without another posting being meant.

const TRACKING_PARAMETER =
  /^(?:utm_.*|gclid|dclid|fbclid|msclkid|mc_[ce]id|_ga|_gl|gh_src|lever-(?:source|origin)(?:\[\])?)$/i;

/** @param parameter one part of a query, as it is written: `name=value`. */
export function isTrackingParameter(parameter: string): boolean {
  const [[name = ''] = []] = new URLSearchParams(parameter);
  return TRACKING_PARAMETER.test(name);
}

/** Removes them from the text of an address; everything else stays as it is written. */
function withoutTracking(address: string): string {
  const [, before = '', query, after = ''] = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/s.exec(address) ?? [];
  if (query === undefined) return address;
  const kept = query.split('&').filter((parameter) => !isTrackingParameter(parameter));
  return `${before}${kept.length === 0 ? '' : `?${kept.join('&')}`}${after}`;
}
