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

function readCharacter(reference: string): string {
  const [, hex, decimal] = /^&#(?:x([0-9a-f]+)|([0-9]+));$/i.exec(reference) ?? [];
  if (hex !== undefined) return character(Number.parseInt(hex, 16));
  return decimal === undefined ? reference : character(Number(decimal));
}

// NUL and halves of pairs are no characters of XML, and Postgres refuses to store them.
function character(code: number): string {
  const impossible = code === 0 || code > 0x10_ff_ff || (code >= 0xd8_00 && code <= 0xdf_ff);
  return impossible ? '\uFFFD' : String.fromCodePoint(code);
}
