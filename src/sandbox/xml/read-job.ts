// Parses the body of a create or an update into fields (site-interface.md, section 2: root `job`, one element per field).
import { SaxesParser } from 'saxes';
import type { JobError } from '../job-rules.ts';
import type { JobFields } from '../store/jobs.ts';

/** The result of parsing. `message` is for the client's developer. */
type ReadJob =
  | { readonly kind: 'job'; readonly fields: JobFields }
  | { readonly kind: 'invalid'; readonly errors: readonly JobError[] }
  | { readonly kind: 'unreadable'; readonly message: string };

/** Fields that the site sets itself; values from a client are ignored. */
const ownFields = new Set(['id', 'created-at', 'updated-at']);
const fieldName = /^[A-Za-z][A-Za-z0-9.-]{0,99}$/;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses a body. Removes name prefixes, and folds `_` to `-`. */
export function readJob(body: Uint8Array): ReadJob {
  const root = readRoot(body);
  if (typeof root === 'string') return { kind: 'unreadable', message: root };
  if (localName(root) !== 'job')
    return { kind: 'unreadable', message: `The root element is '${root.name}', not 'job'.` };

  const fields: Record<string, string> = Object.create(null);
  const errors: JobError[] = [];
  for (const child of root.children) {
    const name = localName(child).replaceAll('_', '-');
    if (ownFields.has(name)) continue;
    if (!fieldName.test(name)) errors.push({ field: name.slice(0, 100), message: 'is not a field of a job' });
    else if (child.children.length > 0) errors.push({ field: name, message: 'must be text, without elements in it' });
    else if (name in fields) errors.push({ field: name, message: 'is given twice' });
    else fields[name] = child.text;
  }
  return errors.length > 0 ? { kind: 'invalid', errors } : { kind: 'job', fields };
}

function readRoot(body: Uint8Array): XmlElement | string {
  try {
    return parseXml(utf8.decode(body));
  } catch (error) {
    if (error instanceof NotWellFormed) return `The body is not well-formed XML: ${error.message}.`;
    if (error instanceof TypeError) return 'The body is not UTF-8.';
    throw error;
  }
}

const localName = (element: XmlElement): string => element.name.slice(element.name.indexOf(':') + 1);

// Parses an XML document into a tree of elements with saxes, which refuses whatever a conforming parser refuses. Document types
// are not accepted, and so neither are entities other than the five predefined ones.
// Not fast-xml-parser: the worker reads with it, and its validator passes much that is not well-formed.

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
