// Turns XML text from the site into a small tree of elements; text that is not well-formed turns into nothing.
import type { Pause } from './time-slices.ts';
import { foldName, openXml, type XmlElement } from './xml-events.ts';

export { expandReferences } from './references.ts';
export { foldName, type XmlElement } from './xml-events.ts';

/**
 * What an answer may hold that is no list: many times what a large job does. What is done with the tree is done in
 * one go, and meanwhile nothing else is, for any site.
 */
const LIMITS = { elements: 2_000, characters: 2 << 20 };
/** Characters that are parsed before the event loop may have a turn. */
const PIECE = 8 << 10;

/**
 * Reads an XML document. Comes back with its root element, or with `undefined` where the text is empty, cut, malformed,
 * nested deeper than some 100 elements, has more than one root, or holds more than {@link LIMITS}. Never throws. A DOCTYPE
 * is skipped.
 */
export function readXml(text: string): XmlElement | undefined {
  if (!looksLikeXml(text)) return undefined;
  try {
    const reading = openXml(LIMITS);
    reading.write(text);
    return reading.end();
  } catch {
    return undefined;
  }
}

/** The same piece by piece: other work is done between two of them. */
export async function readXmlInSlices(text: string, pause: Pause): Promise<XmlElement | undefined> {
  if (!looksLikeXml(text)) return undefined;
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

// Cheap first look: most bodies that are not XML do not begin like it.
const looksLikeXml = (text: string): boolean => text.trimStart().startsWith('<');

/** Nobody reads on. */
export const MAX_LEGIBLE = 64 << 10;

/** The child elements, in document order. */
export const childrenOf = (element: XmlElement): readonly XmlElement[] =>
  element.content.filter((node) => typeof node !== 'string');

/** All text in an element, that of its descendants included, untrimmed. */
export const textOf = (element: XmlElement): string =>
  element.content.map((node) => (typeof node === 'string' ? node : textOf(node))).join('');

/**
 * The text in an element for people: the texts of neighbouring elements are set apart, white space is folded. Of a text
 * longer than {@link MAX_LEGIBLE} it is the beginning.
 * @param isLeftOut elements whose text is not wanted.
 */
export const legibleText = (element: XmlElement, isLeftOut?: (child: XmlElement) => boolean): string =>
  legible(element, isLeftOut ?? (() => false), MAX_LEGIBLE).trim();

/** @param limit characters that somebody reads: what is behind them is not looked at, or each element around would copy it. */
function legible(element: XmlElement, isLeftOut: (child: XmlElement) => boolean, limit: number): string {
  const parts: string[] = [];
  // The joined text may lose the white space at its ends, and is to be too long all the same.
  let left = limit + 2;
  for (const node of element.content) {
    if (left <= 0) break;
    if (typeof node !== 'string' && isLeftOut(node)) continue;
    const part = typeof node === 'string' ? foldText(node) : legible(node, isLeftOut, left).trim();
    parts.push(part);
    if (part.trim() !== '') left -= part.length;
  }
  // Text beside elements is a sentence with markup in it.
  const isSentence = element.content.some((node) => typeof node === 'string' && node.trim() !== '');
  const joined = isSentence ? joinSentence(parts) : parts.filter((part) => part.trim() !== '').join('; ');
  return joined.length < limit ? joined : cutLong(joined.trim(), limit);
}

const cutLong = (text: string, limit: number): string => (text.length < limit ? text : `${text.slice(0, limit - 1)}…`);

/** Characters of a text that are folded in one go. */
const FOLDED_AT_ONCE = 16 << 10;

/** The text with its white space folded, as far as anybody reads. */
function foldText(text: string): string {
  let folded = '';
  for (let at = 0; at < text.length && folded.length < MAX_LEGIBLE + 2; at += FOLDED_AT_ONCE) {
    const part = text.slice(at, at + FOLDED_AT_ONCE).replace(/\s{2,}|[^\S ]/g, ' ');
    folded += folded.endsWith(' ') ? part.trimStart() : part;
  }
  return folded;
}

// Looks at the ends of the parts only: with the text up to each part, many parts would take time by their square.
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

/** Whether an element has this name, however it is cased and whether its words are joined by `_` or `-`. */
export const isNamed = (element: XmlElement, ...names: readonly string[]): boolean =>
  names.includes(foldName(element.name).toLowerCase());
