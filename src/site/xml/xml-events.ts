// Parses XML from the site piece by piece, within limits, and hands over selected elements as they close.
import { SaxesParser } from 'saxes';
import {
  endOfWholeReferences,
  expandReferences,
  hideReferences,
  showReferences,
  withoutForbidden,
} from './references.ts';

/** One element: local name as received (prefix dropped), attributes by folded name, content in document order. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly content: readonly (string | XmlElement)[];
}

/** What a document may hold in memory at a time. A handed-over element counts only until it closes. */
export interface XmlLimits {
  /** Including attributes. */
  readonly elements: number;
  /**
   * Characters of texts, names and attributes together; also the limit for a single piece of markup, such as a comment.
   */
  readonly characters: number;
}

/** Elements to hand over as they close, instead of keeping them in the tree. */
export interface StreamedElements {
  /** Whether an element of this local name is handed over; the root is at depth 0. */
  readonly isSelected: (name: string, depth: number) => boolean;
  /** @returns whether it stays in the tree nevertheless */
  readonly take: (element: XmlElement) => boolean;
}

export interface XmlReading {
  /** @throws XmlRefused */
  write(text: string): void;
  /** The root, without handed-over elements. @throws XmlRefused */
  end(): XmlElement;
}

/** The document is malformed, or exceeds a limit. The message says which. */
export class XmlRefused extends Error {
  readonly isTooLarge: boolean;

  constructor(message: string, isTooLarge = false) {
    super(message);
    this.name = 'XmlRefused';
    this.isTooLarge = isTooLarge;
  }
}

export const MAX_DEPTH = 100;
export const MAX_ATTRIBUTES = 500;
/** Limited because names are matched against many patterns, again and again. */
export const MAX_NAME = 1_000;
/** Limited because the references of an attribute are expanded in one go. */
const MAX_ATTRIBUTE_VALUE = 64 << 10;

/** In answers, names with `_` and with `-` are the same. */
export const foldName = (name: string): string => name.replaceAll('_', '-');

interface OpenElement extends XmlElement {
  readonly content: (string | XmlElement)[];
}

/** Internals of saxes: the text it holds between two pieces. */
interface HeldText {
  readonly state?: unknown;
  text?: string;
}

/** Length from which an unfinished text is taken from the parser. */
const PART_OF_TEXT = 4 << 10;
/** The internal state of a parser inside a text. */
const TEXT_STATE = ((): unknown => {
  const parser = new SaxesParser({ xmlns: false, fragment: false, position: false });
  parser.on('text', () => {});
  parser.write('<a>b');
  return (parser as unknown as HeldText).text === 'b' ? (parser as unknown as HeldText).state : undefined;
})();

/** Opens a parser. A DOCTYPE is skipped, whatever it declares. */
export function openXml(limits: XmlLimits, handOver?: StreamedElements): XmlReading {
  const parser = new SaxesParser({ xmlns: false, fragment: false, position: false });
  const held = parser as unknown as HeldText;
  const open: OpenElement[] = [];
  let root: XmlElement | undefined;
  let local = '';
  let attributes: Map<string, string> = new Map();
  /** Depth of the element being read for handing over. */
  let itemDepth: number | undefined;
  let elements = 0;
  let characters = 0;
  let heldBefore = { elements, characters };
  let unread = 0;
  let started = false;

  const hold = (moreElements: number, moreCharacters: number): void => {
    unread = 0;
    elements += moreElements;
    characters += moreCharacters;
    if (elements > limits.elements) throw tooLarge(`more than ${limits.elements} elements and attributes`);
    if (characters > limits.characters) throw tooLarge(`more than ${limits.characters} characters`);
  };
  const tooLarge = (what: string): XmlRefused => {
    const where =
      handOver === undefined ? 'it has' : itemDepth === undefined ? 'besides its jobs it has' : 'a job in it has';
    return new XmlRefused(`${where} ${what}`, true);
  };
  const checkName = (name: string): void => {
    if (name.length > MAX_NAME) throw tooLarge(`a name of more than ${MAX_NAME} characters`);
  };
  const addText = (text: string): void => {
    hold(0, text.length);
    const content = open.at(-1)?.content;
    const before = content?.at(-1);
    // CDATA sections and comments split a text, possibly after every character.
    if (content && typeof before === 'string') content[content.length - 1] = before + text;
    else content?.push(text);
  };

  /**
   * Takes the text that the parser holds so far, so a long text is not expanded in one go. saxes does not declare
   * `state` and `text`; without them the text arrives as a whole.
   */
  const takeText = (): void => {
    if (held.state !== TEXT_STATE || typeof held.text !== 'string' || held.text.length < PART_OF_TEXT) return;
    const taken = endOfWholeReferences(held.text);
    addText(withReferences(held.text.slice(0, taken)));
    held.text = held.text.slice(taken);
  };

  parser.on('error', (error) => {
    throw new XmlRefused(error.message);
  });
  parser.on('opentagstart', ({ name }) => {
    checkName(name);
    attributes = new Map();
    local = localName(name);
    if (itemDepth === undefined && handOver?.isSelected(local, open.length)) {
      itemDepth = open.length;
      heldBefore = { elements, characters };
      elements = 0;
      characters = 0;
    }
    hold(1, name.length);
  });
  parser.on('attribute', ({ name, value }) => {
    if (attributes.size >= MAX_ATTRIBUTES) throw tooLarge(`an element with more than ${MAX_ATTRIBUTES} attributes`);
    checkName(name);
    if (value.length > MAX_ATTRIBUTE_VALUE) {
      throw tooLarge(`an attribute of more than ${MAX_ATTRIBUTE_VALUE} characters`);
    }
    hold(1, name.length + value.length);
    if (!name.startsWith('xmlns:')) attributes.set(foldName(localName(name)).toLowerCase(), withReferences(value));
  });
  parser.on('opentag', () => {
    unread = 0;
    if (open.length > MAX_DEPTH) throw tooLarge(`elements more than ${MAX_DEPTH} deep`);
    open.push({ name: local, attributes, content: [] });
  });
  parser.on('closetag', () => {
    unread = 0;
    const element = open.pop() as OpenElement;
    if (itemDepth === open.length) {
      itemDepth = undefined;
      const own = { elements, characters };
      ({ elements, characters } = heldBefore);
      if (handOver?.take(element) !== true) return;
      hold(own.elements, own.characters);
      open.at(-1)?.content.push(element);
    } else if (open.length === 0) root = element;
    else open.at(-1)?.content.push(element);
  });
  parser.on('text', (text) => addText(withReferences(text)));
  parser.on('cdata', (text) => addText(showReferences(text)));
  for (const skipped of ['comment', 'processinginstruction', 'doctype'] as const) {
    parser.on(skipped, () => {
      unread = 0;
    });
  }

  return {
    write(text) {
      const piece = started ? text : text.trimStart();
      if (piece === '') return;
      started = true;
      unread += piece.length;
      parser.write(hideReferences(withoutForbidden(piece)));
      takeText();
      // Input without an event is still inside the parser: the beginning of a text, a comment or a tag.
      if (unread > limits.characters + piece.length)
        throw tooLarge(`a part of more than ${limits.characters} characters`);
    },
    end() {
      parser.close();
      if (root === undefined) throw new XmlRefused('it has no root');
      return root;
    },
  };
}

/** The name without its prefix. */
export const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

const withReferences = (text: string): string => expandReferences(showReferences(text));
