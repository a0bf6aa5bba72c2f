// Converts a description that may contain HTML to plain text, with paragraphs and list items on separate lines.
// The result is shown as text: HTML from a feed never reaches a browser as HTML.

const block = /<\/?(?:p|div|br|h[1-6]|ul|ol|tr|table|section|article)\b[^>]*>/gi;
const item = /<li\b[^>]*>/gi;
const tag = /<\/?[a-z][^>]*>/gi;
const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
  rsquo: '’',
  lsquo: '‘',
  ldquo: '“',
  rdquo: '”',
  bull: '•',
};

/** The description as text with line breaks. */
export function plainText(description: string): string {
  return description
    .replace(item, '\n• ')
    .replace(block, '\n')
    .replace(tag, '')
    .replace(
      /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));/gi,
      (whole, decimal?: string, hex?: string, name?: string) => {
        if (name) return entities[name.toLowerCase()] ?? whole;
        const code = hex ? Number.parseInt(hex, 16) : Number(decimal);
        return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
      },
    )
    .replace(/[ \t\u00a0]+/g, ' ')
    .replace(/ *\n */g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .replace(/^(• .*)\n\n(?=• )/gm, '$1\n')
    .trim();
}
