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
