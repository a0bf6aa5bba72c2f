// Turns the texts at the key's paths into a posting key, or says why there is none.
import { MAX_KEY_LENGTH, type PostingKey, postingKey } from './identifiers.ts';
import type { KeyRule } from './mapping.ts';
import type { Problem, RecordTree } from './posting.ts';
import { compileSource } from './value-source.ts';
import { excerpt } from './xml-characters.ts';

/** A key, or the reasons why the record has none. */
export type KeyReading =
  | { readonly kind: 'key'; readonly key: PostingKey }
  | { readonly kind: 'no key'; readonly problems: readonly Problem[] };

/** Prepares the reading of keys. Throws `MalformedPathError`. */
export function compileKey(rule: KeyRule): (record: RecordTree) => KeyReading {
  const parts = rule.paths.map((path) => ({ path, read: compileSource({ kind: 'paths', paths: [path] }) }));
  return (record) => {
    const texts = parts.map(({ read }) => read(record));
    const problems = parts
      .filter((_, index) => texts[index] === '')
      .map(({ path }): Problem => ({ message: `the record has no key: nothing stands at ${path}` }));
    if (problems.length > 0) return { kind: 'no key', problems };
    return checkKey(texts.length === 1 ? (texts[0] ?? '') : texts.map(escapePart).join('|'));
  };
}

/** So that `a|b` + `c` and `a` + `b|c` are different keys. */
const escapePart = (text: string): string => text.replaceAll('%', '%25').replaceAll('|', '%7C');

/** Characters that no database or log keeps as they are. They are refused, not removed: without them two keys may be one. */
const UNSTORABLE = /[\p{Cc}\p{Cs}\uFFFE\uFFFF]/u;

/**
 * A key is what the feed says, letter for letter: `007` is not `7`, `a` is not `A`; only spaces around it are taken off.
 */
export function checkKey(text: string): KeyReading {
  const key = text.trim();
  const refuse = (message: string): KeyReading => ({ kind: 'no key', problems: [{ value: excerpt(key), message }] });
  if (key === '') return refuse('the key is empty');
  // A text of n characters has n to 2n code units: they are only counted in between.
  const isTooLong =
    key.length > 2 * MAX_KEY_LENGTH || (key.length > MAX_KEY_LENGTH && [...key].length > MAX_KEY_LENGTH);
  if (isTooLong) return refuse(`the key is longer than ${MAX_KEY_LENGTH} characters; is the path to it right?`);
  if (UNSTORABLE.test(key)) return refuse('the key holds control characters, such as a line break inside it');
  return { kind: 'key', key: postingKey(key) };
}
