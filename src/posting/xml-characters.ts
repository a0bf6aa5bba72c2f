// Removes characters that XML 1.0 can't carry, and makes excerpts that are safe to store and show.

/**
 * Everything but the production Char of XML 1.0, section 2.2: control characters, lone surrogates, U+FFFE and U+FFFF.
 * With the flag `u` a surrogate pair counts as the one character it encodes.
 */
const ILLEGAL = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

/** A first check, several times as fast. It also matches valid surrogate pairs, but most text matches nothing. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it finds.
const SUSPECT = /[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]/;

/** Returns the text without characters that XML can't carry, and the removed characters in order. */
export function removeIllegalCharacters(text: string): { readonly text: string; readonly removed: readonly string[] } {
  if (!SUSPECT.test(text)) return { text, removed: [] };
  const removed: string[] = [];
  const legal = text.replace(ILLEGAL, (character) => {
    removed.push(character);
    return '';
  });
  return { text: legal, removed };
}

/** The first 200 characters (or `most`) on one line, for a `Problem`. Unstorable characters become U+FFFD. */
export function excerpt(text: string, most = 200): string {
  return text.slice(0, most).replace(ILLEGAL, '\uFFFD').replace(/\s+/g, ' ').trim();
}
