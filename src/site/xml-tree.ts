// Turns XML text from the site into a small tree of elements; text that is not well-formed turns into nothing.
import { XMLParser, XMLValidator } from 'fast-xml-parser';

/** One element: local name as received (prefix dropped), attributes by folded name, content in document order. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly content: readonly (string | XmlElement)[];
}

/** What fast-xml-parser gives with `preserveOrder`: one object per node, its name the only key besides `:@`. */
type ParsedNode = Readonly<Record<string, unknown>>;

const standardEntities: ReadonlyMap<string, string> = new Map([
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&amp;', '&'],
  ['&apos;', "'"],
  ['&quot;', '"'],
]);

/** Expands the five standard entities and character references. Nothing else, so that nothing can grow. */
export const expandReferences = (text: string): string =>
  text.replace(/&[#\w]{1,10};/g, (reference) => standardEntities.get(reference) ?? readCharacter(reference));

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

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  removeNSPrefix: true,
  ignoreDeclaration: true,
  ignorePiTags: true,
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  maxNestedTags: 100,
  entityDecoder: {
    decode: expandReferences,
    setExternalEntities() {},
    addInputEntities() {},
    reset() {},
    setXmlVersion() {},
  },
});

// A DOCTYPE before the root. It is taken out, so that nothing it declares is ever looked at. No part of the pattern can
// match in two ways, so that it stays linear whatever is sent.
const comment = String.raw`<!--(?:(?!-->)[\s\S])*-->`;
const instruction = String.raw`<\?(?:(?!\?>)[\s\S])*\?>`;
const quoted = `"[^"]*"|'[^']*'`;
const subset = String.raw`\[(?:${quoted}|${comment}|<(?!!--)|[^\]"'<])*\]\s*`;
const doctypeOfProlog = new RegExp(
  String.raw`^((?:\s|${instruction}|${comment})*)<!DOCTYPE(?:${quoted}|[^[>"'])*(?:${subset})?>`,
);

/** Names with `_` and `-` are the same name when a response is read. */
export const foldName = (name: string): string => name.replaceAll('_', '-');

/**
 * Reads an XML document. Comes back with its root element, or with `undefined` where the text is empty, cut, malformed,
 * nested deeper than some 100 elements or has more than one root. Never throws. A DOCTYPE is skipped.
 */
export function readXml(text: string): XmlElement | undefined {
  // Cheap first look: most bodies that are not XML do not begin like it.
  if (!text.trimStart().startsWith('<')) return undefined;
  try {
    const xml = text.replace(doctypeOfProlog, '$1');
    if (XMLValidator.validate(xml) !== true) return undefined;
    const roots = contentOf(parser.parse(xml)).filter((node) => typeof node !== 'string');
    return roots.length === 1 ? roots[0] : undefined;
  } catch {
    // The parser throws for names such as `__proto__` and for its own limits: unreadable, like anything malformed.
    return undefined;
  }
}

function contentOf(nodes: readonly ParsedNode[]): (string | XmlElement)[] {
  return nodes.flatMap((node): (string | XmlElement)[] => {
    const name = Object.keys(node).find((key) => key !== ':@');
    if (name === undefined) return [];
    if (name === '#text') return [String(node[name])];
    const attributes = Object.entries((node[':@'] ?? {}) as Record<string, string>);
    return [
      {
        name,
        attributes: new Map(attributes.map(([key, value]) => [foldName(key).toLowerCase(), String(value)])),
        content: contentOf(node[name] as readonly ParsedNode[]),
      },
    ];
  });
}

/** The child elements, in document order. */
export const childrenOf = (element: XmlElement): readonly XmlElement[] =>
  element.content.filter((node) => typeof node !== 'string');

/** All text in an element, that of its descendants included, untrimmed. */
export const textOf = (element: XmlElement): string =>
  element.content.map((node) => (typeof node === 'string' ? node : textOf(node))).join('');

/**
 * The text in an element for people: the texts of neighbouring elements are set apart, white space is folded.
 * @param isLeftOut elements whose text is not wanted.
 */
export function legibleText(element: XmlElement, isLeftOut: (child: XmlElement) => boolean = () => false): string {
  const parts = element.content.flatMap((node) => {
    if (typeof node !== 'string') return isLeftOut(node) ? [] : [legibleText(node, isLeftOut)];
    return [node.replace(/\s+/g, ' ')];
  });
  // Text beside elements is a sentence with markup in it.
  const isSentence = element.content.some((node) => typeof node === 'string' && node.trim() !== '');
  const joined = isSentence
    ? parts.reduce((before, part) => (/\w$/.test(before) && /^\w/.test(part) ? `${before} ${part}` : before + part), '')
    : parts.filter((part) => part.trim() !== '').join('; ');
  return joined.trim();
}

/** Whether an element has this name, however it is cased and whether its words are joined by `_` or `-`. */
export const isNamed = (element: XmlElement, ...names: readonly string[]): boolean =>
  names.includes(foldName(element.name).toLowerCase());
