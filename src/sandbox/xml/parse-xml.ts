// Parses an XML document into a tree of elements with saxes, which refuses whatever a conforming parser refuses. Document types
// are not accepted, and so neither are entities other than the five predefined ones.
// Not fast-xml-parser: the worker reads with it, and its validator passes much that is not well-formed.
import { SaxesParser } from 'saxes';

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

/**
 * Parses a whole document.
 * @param source the document, decoded, without byte order mark
 * @returns the root element
 * @throws NotWellFormed
 */
export function parseXml(source: string): XmlElement {
  // XML 1.1, which no other part knows, would allow more characters.
  const parser = new SaxesParser({ position: false, defaultXMLVersion: '1.0', forceXMLVersion: true });
  const open: OpenElement[] = [];
  let root: XmlElement | undefined;
  const fail = (message: string): never => {
    throw new NotWellFormed(`${message} in line ${parser.line}`);
  };
  const addText = (text: string): void => {
    const within = open.at(-1);
    if (within !== undefined) within.text += text;
  };
  parser.on('error', ({ message }) => fail(message.replace(/\.$/, '')));
  parser.on('doctype', () => fail('a document type, which is not accepted,'));
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('opentag', ({ name, attributes }) => {
    if (open.length === MAX_DEPTH) fail(`more than ${MAX_DEPTH} nested elements`);
    const element: OpenElement = { name, attributes: new Map(Object.entries(attributes)), children: [], text: '' };
    open.at(-1)?.children.push(element);
    root ??= element;
    open.push(element);
  });
  parser.on('closetag', () => void open.pop());
  parser.write(source).close();
  return root ?? fail('no root element');
}
