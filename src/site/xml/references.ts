// Expands the five standard entities and character references of XML. Nothing else, so that nothing can grow.
const standardEntities: ReadonlyMap<string, string> = new Map([
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&amp;', '&'],
  ['&apos;', "'"],
  ['&quot;', '"'],
]);

/** The text with its references expanded; one that is unknown stays as it is. */
export const expandReferences = (text: string): string =>
  text.includes('&')
    ? text.replace(/&[#\w]{1,10};/g, (reference) => standardEntities.get(reference) ?? readCharacter(reference))
    : text;

const hexDigits = /^[0-9a-f]+$/i;
const decimalDigits = /^[0-9]+$/;

function readCharacter(reference: string): string {
  // A text may be made of them: slices and tests are done in a fraction of the time that captures take.
  if (reference[1] !== '#') return reference;
  const isHex = reference[2] === 'x' || reference[2] === 'X';
  const digits = reference.slice(isHex ? 3 : 2, -1);
  if (!(isHex ? hexDigits : decimalDigits).test(digits)) return reference;
  return character(Number.parseInt(digits, isHex ? 16 : 10));
}

// NUL and halves of pairs are no characters of XML, and Postgres refuses to store them.
function character(code: number): string {
  const impossible = code === 0 || code > 0x10_ff_ff || (code >= 0xd8_00 && code <= 0xdf_ff);
  return impossible ? '\uFFFD' : String.fromCodePoint(code);
}
