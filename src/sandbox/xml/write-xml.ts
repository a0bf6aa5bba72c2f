// Writes XML documents. Names come from the code or were checked when they were stored; all escaping of text happens here.
// Not xmlbuilder2: the worker writes with it, and the sandbox must not share a mistake with what it checks.

/** Finished XML. A separate type prevents unescaped text from being used as XML. */
export interface Xml {
  readonly xml: string;
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#13;',
};
const escapeXml = (text: string): string => text.replace(/[&<>"\r]/g, (character) => escapes[character] ?? character);
const escapeAttribute = (text: string): string => escapeXml(text).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;');

/** One element with text, or with child elements on separate lines. */
export function element(
  name: string,
  content: string | readonly Xml[],
  attributes: Readonly<Record<string, string | number>> = {},
): Xml {
  const opening = Object.entries(attributes).reduce(
    (tag, [key, value]) => `${tag} ${key}="${escapeAttribute(String(value))}"`,
    name,
  );
  const inner = typeof content === 'string' ? escapeXml(content) : content.map((child) => `\n${child.xml}`).join('');
  if (inner === '') return { xml: `<${opening}/>` };
  return { xml: `<${opening}>${inner}${typeof content === 'string' ? '' : '\n'}</${name}>` };
}

/** A whole document. */
export const writeDocument = (root: Xml): string => `<?xml version="1.0" encoding="UTF-8"?>\n${root.xml}\n`;
