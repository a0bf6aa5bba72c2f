// Parses XML text from the site into a small tree of elements; malformed text gives nothing.
import { readDocument } from './document.ts';
import type { Pause } from './time-slices.ts';
import { foldName, openXml, type XmlElement } from './xml-events.ts';

export { expandReferences } from './references.ts';
export { foldName, type XmlElement } from './xml-events.ts';

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
