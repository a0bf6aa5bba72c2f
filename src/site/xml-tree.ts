// Turns XML text from the site into a small tree of elements; text that is not well-formed turns into nothing.
import { foldName, openXml, type XmlElement } from './xml-events.ts';

export { expandReferences } from './references.ts';
export { foldName, type XmlElement } from './xml-events.ts';

/**
 * What an answer may hold that is no list. Reading this much takes some 20 ms: it is done in one go, and meanwhile
 * nothing else is, for any site.
 */
const LIMITS = { elements: 5_000, characters: 8 << 20 };

/**
 * Reads an XML document. Comes back with its root element, or with `undefined` where the text is empty, cut, malformed,
 * nested deeper than some 100 elements, has more than one root, or holds more than {@link LIMITS}. Never throws. A DOCTYPE
 * is skipped.
 */
export function readXml(text: string): XmlElement | undefined {
  if (text !== last.text) last = { text, root: parse(text) };
  return last.root;
}

/** An answer is looked at several times in a row: as a job, as errors, as a text. */
let last: { readonly text: string; readonly root: XmlElement | undefined } = { text: '', root: undefined };

function parse(text: string): XmlElement | undefined {
  // Cheap first look: most bodies that are not XML do not begin like it.
  if (!text.trimStart().startsWith('<')) return undefined;
  try {
    const reading = openXml(LIMITS);
    reading.write(text);
    return reading.end();
  } catch {
    return undefined;
  }
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
    return [node.replace(/\s{2,}|[^\S ]/g, ' ')];
  });
  // Text beside elements is a sentence with markup in it.
  const isSentence = element.content.some((node) => typeof node === 'string' && node.trim() !== '');
  const joined = isSentence ? joinSentence(parts) : parts.filter((part) => part.trim() !== '').join('; ');
  return joined.trim();
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
