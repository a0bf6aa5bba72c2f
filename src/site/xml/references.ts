// Expands the five standard entities and character references of XML, and nothing else, so no text can grow.
const standardEntities: ReadonlyMap<string, string> = new Map([
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&amp;', '&'],
  ['&apos;', "'"],
  ['&quot;', '"'],
]);

/** The text with its references expanded; unknown ones stay unchanged. */
export const expandReferences = (text: string): string =>
  text.includes('&')
    ? text.replace(/&[#\w]{1,10};/g, (reference) => standardEntities.get(reference) ?? readCharacter(reference))
    : text;

const hexDigits = /^[0-9a-f]+$/i;
const decimalDigits = /^[0-9]+$/;

function readCharacter(reference: string): string {
  // A text may consist of references: slicing and testing is much faster than capture groups.
  if (reference[1] !== '#') return reference;
  const isHex = reference[2] === 'x' || reference[2] === 'X';
  const digits = reference.slice(isHex ? 3 : 2, -1);
  if (!(isHex ? hexDigits : decimalDigits).test(digits)) return reference;
  return character(Number.parseInt(digits, isHex ? 16 : 10));
}

// NUL and lone surrogates are not XML characters, and Postgres cannot store them.
function character(code: number): string {
  const impossible = code === 0 || code > 0x10_ff_ff || (code >= 0xd8_00 && code <= 0xdf_ff);
  return impossible ? '\uFFFD' : String.fromCodePoint(code);
}

// Sites write `R&D` and HTML's `&nbsp;`, which parsers refuse. So every `&` passes them as a character that no document may
// contain, and references are expanded afterwards. Real occurrences of that character become U+FFFD, as do control
// characters, which XML forbids but sites send.
const AMPERSAND = '\uFDD0';
/** Length of the longest reference that is expanded. */
const LONGEST_REFERENCE = 12;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const forbidden = /[\0-\x08\x0b\x0c\x0e-\x1f\uFDD0\uFFFE\uFFFF]/g;

/** The text without characters that XML forbids. */
export const withoutForbidden = (text: string): string => text.replace(forbidden, () => '\uFFFD');

// Not `replaceAll`: after many replacements its result is joined only when read, which takes many times as long.
/** The text as a parser may see it: {@link withoutForbidden}, and without any `&`. */
export const hideReferences = (text: string): string => text.split('&').join(AMPERSAND);

/** Undoes {@link hideReferences}. */
export const showReferences = (text: string): string => text.split(AMPERSAND).join('&');

/** Where a text with hidden references can be cut without cutting one of them. */
export function endOfWholeReferences(hidden: string): number {
  const lastReference = hidden.lastIndexOf(AMPERSAND);
  const isWhole = lastReference === -1 || lastReference < hidden.length - LONGEST_REFERENCE;
  return isWhole ? hidden.length : lastReference;
}
