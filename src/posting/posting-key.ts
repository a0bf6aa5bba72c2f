// Reads a posting key from the texts at the key's paths, or explains why the record has none.
import { MAX_KEY_LENGTH, type PostingKey, postingKey } from './identifiers.ts';
import type { KeyRule } from './mapping.ts';
import type { Problem, RecordTree } from './posting.ts';
import { compileSource } from './value-source.ts';
import { excerpt } from './xml-characters.ts';

/** The key, or the reasons why the record has none. */
export type KeyReading =
  | { readonly kind: 'key'; readonly key: PostingKey }
  | { readonly kind: 'no key'; readonly problems: readonly Problem[] };

/** Compiles a key rule into a reader. Throws `MalformedPathError`. */
export function compileKey(rule: KeyRule): (record: RecordTree) => KeyReading {
  const parts = rule.paths.map((path) => ({ path, read: compileSource({ kind: 'paths', paths: [path] }) }));
  return (record) => {
    const texts = parts.map(({ read }) => read(record));
    const problems = parts
      .filter((_, index) => texts[index] === '')
      .map(({ path }): Problem => ({ message: `the record has no key: no value found at ${path}` }));
    if (problems.length > 0) return { kind: 'no key', problems };
    return checkKey(texts.length === 1 ? (texts[0] ?? '') : texts.map(escapePart).join('|'));
  };
}

/** Keeps `a|b` + `c` and `a` + `b|c` different keys. */
const escapePart = (text: string): string => text.replaceAll('%', '%25').replaceAll('|', '%7C');

/**
 * Characters that databases and logs do not preserve. They are refused, not removed: removal could make two keys equal.
 */
const UNSTORABLE = /[\p{Cc}\p{Cs}\uFFFE\uFFFF]/u;

/**
 * A key is taken from the feed verbatim, except for surrounding spaces: `007` is not `7`, `a` is not `A`.
 */
export function checkKey(text: string): KeyReading {
  const key = text.trim();
  const refuse = (message: string): KeyReading => ({ kind: 'no key', problems: [{ value: excerpt(key), message }] });
  if (key === '') return refuse('the key is empty');
  // n characters take n to 2n code units, so count characters only if the length is in that range.
  const isTooLong =
    key.length > 2 * MAX_KEY_LENGTH || (key.length > MAX_KEY_LENGTH && [...key].length > MAX_KEY_LENGTH);
  if (isTooLong) return refuse(`the key is longer than ${MAX_KEY_LENGTH} characters; check the key path`);
  if (UNSTORABLE.test(key)) return refuse('the key contains control characters, such as a line break');
  return { kind: 'key', key: postingKey(key) };
}
