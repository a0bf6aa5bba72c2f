// Parses an XML document into a tree of elements, or reports where it is not well-formed.
// Hand-written and strict: the job site must refuse whatever a conforming parser refuses, independently of the worker's XML
// library. Document types are not accepted, and so neither are entities other than the five predefined ones.

/** One element. `text` is its own character data with references resolved, without that of its children. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  readonly text: string;
}

/** The document is not well-formed; the message says why and on which line. */
export class NotWellFormed extends Error {}

interface OpenElement extends XmlElement {
  readonly children: XmlElement[];
  text: string;
}

const MAX_DEPTH = 100;
const NAME = '[A-Za-z_:\\u0080-\\u{10FFFF}][\\w:.\\-\\u0080-\\u{10FFFF}]*';
const declaration =
  /<\?xml\s+version\s*=\s*(?:"1\.\d"|'1\.\d')(?:\s+encoding\s*=\s*(?:"[\w.-]+"|'[\w.-]+'))?(?:\s+standalone\s*=\s*(?:"(?:yes|no)"|'(?:yes|no)'))?\s*\?>/y;
const startTag = new RegExp(`<(${NAME})`, 'uy');
const endTag = new RegExp(`</(${NAME})\\s*>`, 'uy');
const attribute = new RegExp(`\\s+(${NAME})\\s*=\\s*(?:"([^"<]*)"|'([^'<]*)')`, 'uy');
const tagEnd = /\s*(\/?)>/y;
const instruction = new RegExp(`<\\?(?!xml[\\s?])(${NAME})(?:\\s[\\s\\S]*?)?\\?>`, 'iuy');
const comment = /<!--([\s\S]*?)-->/y;
const cdata = /<!\[CDATA\[([\s\S]*?)\]\]>/y;
const reference = /&(?:#x([0-9a-fA-F]{1,6});|#(\d{1,7});|(amp|lt|gt|quot|apos);)?/g;
const forbidden = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;
const builtIn: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Whether XML 1.0 can carry every character of the text. */
export const isXmlText = (text: string): boolean => !forbidden.test(text);

/**
 * Parses a whole document.
 * @param source the document, decoded, without byte order mark
 * @returns the root element
 * @throws NotWellFormed
 */
export function parseXml(source: string): XmlElement {
  const text = source.replace(/\r\n?/g, '\n');
  let at = 0;
  const fail = (message: string): never => {
    throw new NotWellFormed(`${message} in line ${text.slice(0, at).split('\n').length}`);
  };
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  const resolve = (raw: string): string =>
    raw.replace(reference, (whole, hex?: string, decimal?: string, name?: string) => {
      if (name) return builtIn[name] ?? '';
      const code = hex ? Number.parseInt(hex, 16) : Number(decimal ?? Number.NaN);
      const character = code <= 0x10ffff ? String.fromCodePoint(code) : '';
      return character && isXmlText(character) ? character : fail(`'${whole}' is not a reference that XML knows`);
    });

  if (!isXmlText(text)) fail('a character that XML does not allow');
  match(declaration);
  let root: XmlElement | undefined;
  const open: OpenElement[] = [];

  while (at < text.length) {
    const within = open.at(-1);
    const next = text.indexOf('<', at);
    const data = text.slice(at, next === -1 ? text.length : next);
    if (data.includes(']]>')) fail("']]>' in text");
    if (within) within.text += resolve(data);
    else if (data.trim() !== '') fail('text outside the root element');
    if (next === -1) break;
    at = next;

    const remark = match(comment)?.[1];
    if (remark !== undefined) {
      if (`${remark}-`.includes('--')) fail("'--' in a comment");
      continue;
    }
    if (match(instruction)) continue;
    const section = match(cdata);
    if (section) {
      if (within) within.text += section[1];
      else fail('a CDATA section outside the root element');
      continue;
    }
    const end = match(endTag);
    if (end) {
      if (within?.name !== end[1]) fail(`'</${end[1]}>' closes nothing`);
      open.pop();
      continue;
    }
    const start = match(startTag);
    if (!start?.[1])
      return fail(text.startsWith('<!DOCTYPE', at) ? 'a document type, which is not accepted,' : 'an unescaped "<"');
    const attributes = new Map<string, string>();
    for (let found = match(attribute); found; found = match(attribute)) {
      const [, name = '', double, single] = found;
      if (attributes.has(name)) fail(`attribute '${name}' twice`);
      // In attributes, line ends and tabs become spaces unless written as references (XML 1.0, 3.3.3).
      attributes.set(name, resolve((double ?? single ?? '').replace(/[\t\n]/g, ' ')));
    }
    const element: OpenElement = { name: start[1], attributes, children: [], text: '' };
    const close = match(tagEnd);
    if (!close) fail(`'<${start[1]}' is not closed`);
    if (within) within.children.push(element);
    else if (root) fail('a second root element');
    else root = element;
    if (close?.[1] === '') open.push(element);
    if (open.length > MAX_DEPTH) fail(`more than ${MAX_DEPTH} nested elements`);
  }
  if (open.length > 0) fail(`'<${open.at(-1)?.name}>' is not closed`);
  return root ?? fail('no root element');
}
