// Parses XML text from the site into a small tree of elements; malformed text gives nothing.

import { createRequire } from 'node:module';
import type * as FastXmlParser from 'fast-xml-parser';
import type { Pause } from './body-text.ts';
import { expandReferences, hideReferences, withoutForbidden } from './references.ts';
import {
  foldName,
  localName,
  MAX_ATTRIBUTES,
  MAX_DEPTH,
  MAX_NAME,
  openXml,
  type XmlElement,
  XmlRefused,
} from './xml-events.ts';

/**
 * Limits for an answer that is not a list: many times what a large job needs. Work on the tree is not sliced, so it
 * blocks requests to every site.
 */
const LIMITS = { elements: 2_000, characters: 2 << 20 };
/** A longer document is read like a list: in one go it would block other work for more than a few milliseconds. */
const IN_ONE_GO = 32 << 10;
/** Characters of a longer one that are parsed between yields to the event loop. */
const PIECE = 8 << 10;

/**
 * Parses an XML document. Returns its root element, or `undefined` if the text is empty, cut, malformed, nested deeper
 * than about 100 elements, has more than one root, or exceeds {@link LIMITS}. Never throws. A DOCTYPE is skipped.
 */
export function readXml(text: string): XmlElement | undefined {
  if (!looksLikeXml(text)) return undefined;
  try {
    if (text.length <= IN_ONE_GO) return readDocument(text, LIMITS.elements);
    const reading = openXml(LIMITS);
    reading.write(text);
    return reading.end();
  } catch {
    return undefined;
  }
}

/** The same; yields to the event loop while it reads a long document. */
export async function readXmlInSlices(text: string, pause: Pause): Promise<XmlElement | undefined> {
  if (text.length <= IN_ONE_GO || !looksLikeXml(text)) return readXml(text);
  const reading = openXml(LIMITS);
  try {
    for (let at = 0; at < text.length; at += PIECE) {
      reading.write(text.slice(at, at + PIECE));
      await pause();
    }
    return reading.end();
  } catch {
    return undefined;
  }
}

// Cheap pre-check: most bodies that are not XML do not start with `<`.
const looksLikeXml = (text: string): boolean => text.trimStart().startsWith('<');

/** Limit on text for people: nobody reads further. */
export const MAX_LEGIBLE = 64 << 10;

/** The child elements, in document order. */
export const childrenOf = (element: XmlElement): readonly XmlElement[] =>
  element.content.filter((node) => typeof node !== 'string');

/** All text in an element, including its descendants, untrimmed. */
export const elementText = (element: XmlElement): string =>
  element.content.map((node) => (typeof node === 'string' ? node : elementText(node))).join('');

/**
 * The text in an element for people: texts of neighbouring elements are separated, white space is folded. Cut at {@link
 * MAX_LEGIBLE}.
 * @param isLeftOut elements whose text is skipped.
 */
export const legibleText = (element: XmlElement, isLeftOut?: (child: XmlElement) => boolean): string =>
  legible(element, isLeftOut ?? (() => false), MAX_LEGIBLE).trim();

/** @param limit characters to return: without it each enclosing element would copy all of the text. */
function legible(element: XmlElement, isLeftOut: (child: XmlElement) => boolean, limit: number): string {
  const parts: string[] = [];
  // Two extra, because trimming may shorten the joined text, which must still exceed the limit.
  let left = limit + 2;
  for (const node of element.content) {
    if (left <= 0) break;
    if (typeof node !== 'string' && isLeftOut(node)) continue;
    const part = typeof node === 'string' ? foldText(node) : legible(node, isLeftOut, left).trim();
    parts.push(part);
    if (part.trim() !== '') left -= part.length;
  }
  // Text next to elements is a sentence with markup in it.
  const isSentence = element.content.some((node) => typeof node === 'string' && node.trim() !== '');
  const joined = isSentence ? joinSentence(parts) : parts.filter((part) => part.trim() !== '').join('; ');
  return joined.length < limit ? joined : cutLong(joined.trim(), limit);
}

const cutLong = (text: string, limit: number): string => (text.length < limit ? text : `${text.slice(0, limit - 1)}…`);

/** Characters folded in one go. */
const FOLDED_AT_ONCE = 16 << 10;

/** The text with its white space folded, up to the limit for people. */
function foldText(text: string): string {
  let folded = '';
  for (let at = 0; at < text.length && folded.length < MAX_LEGIBLE + 2; at += FOLDED_AT_ONCE) {
    const part = text.slice(at, at + FOLDED_AT_ONCE).replace(/\s{2,}|[^\S ]/g, ' ');
    folded += folded.endsWith(' ') ? part.trimStart() : part;
  }
  return folded;
}

// Compares only the ends of parts: looking at all the text so far would take quadratic time.
function joinSentence(parts: readonly string[]): string {
  let last = '';
  return parts
    .map((part) => {
      const apart = /\w/.test(last) && /^\w/.test(part) ? ` ${part}` : part;
      last = part.at(-1) ?? last;
      return apart;
    })
    .join('');
}

/** Whether an element has one of these names, ignoring case and treating `_` as `-`. */
export const isNamed = (element: XmlElement, ...names: readonly string[]): boolean =>
  names.includes(foldName(element.name).toLowerCase());

// Reads a single document of the site with fast-xml-parser, its validator in front.

/** Loaded for the first answer: a command that sends nothing does without. */
let library: typeof FastXmlParser | undefined;
function load(): typeof FastXmlParser {
  library ??= createRequire(import.meta.url)('fast-xml-parser') as typeof FastXmlParser;
  return library;
}

const TEXT = '#text';
const CDATA = '#cdata';
const ATTRIBUTES = ':@';
/** Precedes each name, so that none is special: the parser refuses `constructor`, for example. No name begins with it. */
const MARK = '.';
const marked = (name: string): string => (name.startsWith(MARK) ? name : MARK + name);

/**
 * Values stay as they are written. Of their references only those that are read in lists too are expanded: the library
 * would expand what a DOCTYPE declares and some names of HTML, and drop others.
 */
const OPTIONS = {
  preserveOrder: true,
  parseTagValue: false,
  trimValues: false,
  processEntities: false,
  textNodeName: TEXT,
  cdataPropName: CDATA,
  ignoreAttributes: false,
  attributeNamePrefix: MARK,
  transformTagName: marked,
  tagValueProcessor(_name: string, value: string) {
    // Not well-formed, but the validator passes it, as it does the next one.
    if (value.includes(']]>')) throw new XmlRefused('it has ]]> in a text');
    return expandReferences(value);
  },
  attributeValueProcessor(_name: string, value: string) {
    if (value.includes('<')) throw new XmlRefused('it has < in an attribute');
    // XML 1.0, 3.3.3.
    return expandReferences(value.replace(/[\t\n]/g, ' '));
  },
  // The root and what encloses it count too.
  maxNestedTags: MAX_DEPTH + 2,
  jPath: false,
};

/** Made once; documents are parsed one after the other. */
let parser: FastXmlParser.XMLParser | undefined;
/** What the present document may have, and how much of it is left. */
let most = 0;
let left = 0;

function createParser(): FastXmlParser.XMLParser {
  const { XMLParser } = load();
  return new XMLParser({
    ...OPTIONS,
    updateTag(name, _path, attributes) {
      const count = Object.keys(attributes).length;
      if (count > MAX_ATTRIBUTES) throw tooLarge(`an element with more than ${MAX_ATTRIBUTES} attributes`);
      left -= 1 + count;
      if (left < 0) throw tooLarge(`more than ${most} elements and attributes`);
      return name;
    },
  });
}

/** @param mostElements including attributes; beyond that it stops at once. */
function parse(markup: string, mostElements: number): readonly ParsedNode[] {
  parser ??= createParser();
  most = mostElements;
  // One encloses the root.
  left = mostElements + 1;
  return parser.parse(markup) as readonly ParsedNode[];
}

// Their alternatives begin with different characters, so that matching takes linear time.
const COMMENT = '<!--(?:[^-]|-(?!-))*-->';
const TARGET = String.raw`(?![Xx][Mm][Ll][\s?])[A-Za-z_:\u0080-\uFFFF][\w:.\-\u0080-\uFFFF]*`;
const INSTRUCTION_BEGUN = String.raw`<\?${TARGET}(?:\s(?:[^?]|\?(?!>))*)?`;
const INSTRUCTION = String.raw`${INSTRUCTION_BEGUN}\?>`;
const QUOTED = `"[^"]*"|'[^']*'`;
const DECLARATION = String.raw`<\?xml\s+version\s*=\s*["']1\.\d+["'](?:\s+encoding\s*=\s*["'][A-Za-z][\w.-]*["'])?(?:\s+standalone\s*=\s*["'](?:yes|no)["'])?\s*\?>`;
const REMARKS = `(?:[ \\t\\r\\n]|${COMMENT}|${INSTRUCTION})*`;
const SUBSET = String.raw`\[(?:[^\]"'<]|${QUOTED}|${COMMENT}|${INSTRUCTION}|<(?!!--|\?))*\]\s*`;
/** The XML declaration, and a DOCTYPE with comments around it: whatever it declares, the parser must not see it. */
const PROLOG = new RegExp(
  String.raw`^(?:${DECLARATION})?${REMARKS}(?:<!DOCTYPE\s(?:[^"'[\]<>]|${QUOTED})*(?:${SUBSET})?>${REMARKS})?`,
);
/** What never ends is matched to the end of the text, so that it is searched once. */
const REMARK_OR_CDATA = new RegExp(
  String.raw`<!\[CDATA\[[\s\S]*?(?:\]\]>|$)|${COMMENT}|${INSTRUCTION_BEGUN}(?:\?>|$)|<[!?]`,
  'g',
);

/** Begins and ends with a tag: the validator passes `<a/`, and CDATA beside the root. */
const ROOT = /^<[^!][\s\S]*[^\]]>[ \t\r\n]*$/;

/** The markup without comments and processing instructions, whose quotes the parser would take for those of values. */
const withoutRemarks = (markup: string): string =>
  markup.replace(REMARK_OR_CDATA, (found) => {
    if (found.startsWith('<![')) return found;
    if (found.endsWith('?>') || found.endsWith('-->')) return '';
    throw new XmlRefused(`it has ${found.slice(0, 2)} where it may not be, or without an end`);
  });

/** A node as the parser returns it: a text, or an element under its marked name. */
interface ParsedNode {
  readonly [TEXT]?: string;
  readonly [CDATA]?: readonly ParsedNode[];
  readonly [ATTRIBUTES]?: Readonly<Record<string, string>>;
}

/**
 * Reads a whole document of moderate length in one go. A DOCTYPE is skipped.
 * @param mostElements including attributes.
 * @throws if it is not well-formed, or exceeds a limit.
 */
function readDocument(text: string, mostElements: number): XmlElement {
  const written = withoutForbidden(text.trimStart()).replace(/\r\n?/g, '\n');
  const markup = withoutRemarks(written.replace(PROLOG, ''));
  if (!ROOT.test(markup)) throw new XmlRefused('it does not begin or end with its root');
  const valid = load().XMLValidator.validate(hideReferences(markup));
  if (valid !== true) throw new XmlRefused(valid.err.msg);
  const around = parse(`<document>${markup}</document>`, mostElements);
  const content = contentOf(childNodes(around[0], marked('document')), 0);
  const [root, ...others] = content.filter((node) => typeof node !== 'string' || /[^ \t\r\n]/.test(node));
  if (root === undefined || typeof root === 'string' || others.length > 0)
    throw new XmlRefused('it has no single root');
  return root;
}

function contentOf(nodes: readonly ParsedNode[], depth: number): (string | XmlElement)[] {
  const content: (string | XmlElement)[] = [];
  for (const node of nodes) {
    const text = node[TEXT] ?? node[CDATA]?.[0]?.[TEXT];
    const before = content.at(-1);
    if (text === undefined) content.push(elementOf(node, depth));
    // A CDATA section does not split a text.
    else if (typeof before === 'string') content[content.length - 1] = before + text;
    else content.push(text);
  }
  return content;
}

function elementOf(node: ParsedNode, depth: number): XmlElement {
  const name = Object.keys(node)[0] ?? '';
  if (depth > MAX_DEPTH) throw tooLarge(`elements more than ${MAX_DEPTH} deep`);
  const attributes = new Map<string, string>();
  for (const [markedName, value] of Object.entries(node[ATTRIBUTES] ?? {})) {
    const attribute = unmarked(markedName);
    if (!attribute.startsWith('xmlns:')) attributes.set(foldName(localName(attribute)).toLowerCase(), value);
  }
  return {
    name: localName(unmarked(name)),
    attributes,
    content: contentOf(childNodes(node, name), depth + 1),
  };
}

function unmarked(markedName: string): string {
  const name = markedName.slice(MARK.length);
  if (name.length > MAX_NAME) throw tooLarge(`a name of more than ${MAX_NAME} characters`);
  return name;
}

const childNodes = (node: ParsedNode | undefined, name: string): readonly ParsedNode[] =>
  (node as Readonly<Record<string, readonly ParsedNode[]>> | undefined)?.[name] ?? [];

const tooLarge = (what: string): XmlRefused => new XmlRefused(`it has ${what}`, true);
