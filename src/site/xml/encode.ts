// Encodes a job's fields as the XML document that creates or updates it (site-interface.md, section 4, rule 1).
import { create } from 'xmlbuilder2';
import type { XMLBuilder } from 'xmlbuilder2/lib/interfaces.js';
import { removeIllegalCharacters } from '../../posting/markup.ts';
import type { Fields, Problem } from '../../posting/posting.ts';

/** A document for the site, and what was left out of it. */
export interface EncodedSiteJob {
  /** UTF-8 text with an XML declaration and the root `job`, or what the site calls its jobs. */
  readonly xml: string;
  /** One note per field from which characters were removed because XML 1.0 can't carry them. */
  readonly removed: readonly Problem[];
}

const elementName = /^(?!xml)[A-Za-z_][A-Za-z0-9_.-]*$/i;

/** Whether a configured field name is a valid element name: ASCII, no prefix, not starting with `xml`. */
const isFieldName = (name: string): boolean => elementName.test(name);

/**
 * Encodes one job: root `job` unless the site calls it otherwise, one child per field, in the order of the fields. A conforming parser returns every
 * string unchanged, except for characters that XML 1.0 does not allow (most control characters, U+FFFE, U+FFFF, lone
 * surrogates): these are removed and reported. Throws if a field name is not an element name, which is a configuration
 * error and never depends on a feed.
 */
export function encodeSiteJob(fields: Fields, element = 'job'): EncodedSiteJob {
  const removed: Problem[] = [];
  const { document, texts } = frameOf(element, Object.keys(fields));
  for (const [at, [field, value]] of Object.entries(fields).entries()) {
    const legal = removeIllegalCharacters(value);
    (texts[at] as Text).data = escapeReferences(legal.text);
    if (legal.removed.length > 0) removed.push(noteRemoved(field, legal.removed));
  }
  // Names and characters are already checked: the library need not do it again.
  return { xml: document.end(), removed };
}

/** A document of which only the texts change from job to job: making one takes twice as long as writing it. */
interface Frame {
  readonly document: XMLBuilder;
  /** In the order of the fields. */
  readonly texts: readonly Text[];
}

type Text = { data: string };

/** Most feeds send the same few fields in each request. */
const MOST_FRAMES = 32;
const frames = new Map<string, Frame>();

function frameOf(element: string, fields: readonly string[]): Frame {
  const name = JSON.stringify([element, ...fields]);
  const known = frames.get(name);
  if (known !== undefined) return known;
  const wrong = fields.find((field) => !isFieldName(field));
  if (wrong !== undefined) throw new Error(`The site field "${wrong}" can't be the name of an XML element.`);
  const job = create({ version: '1.0', encoding: 'UTF-8' }).ele(element);
  // A text that is empty at first would not be a node.
  const texts = fields.map((field) => job.ele(field).txt('-').node.lastChild as unknown as Text);
  const frame = { document: job.doc(), texts };
  if (frames.size >= MOST_FRAMES) frames.clear();
  frames.set(name, frame);
  return frame;
}

// xmlbuilder2 mistakes `&name;` and `&#13;` in a text for references and writes them unchanged, so the text `&nbsp;`
// would produce a document that no parser accepts. With every `&` already escaped, there is nothing to guess. This also
// preserves CR, which a parser would read as a line feed if it were unescaped (XML 1.0, 2.11).
const escapeReferences = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('\r', '&#13;');

function noteRemoved(field: string, found: readonly string[]): Problem {
  const points = [...new Set(found)].slice(0, 10).map(codePoint).join(', ');
  return { field, message: `Removed characters that XML can't carry: ${found.length} × ${points}` };
}

const codePoint = (character: string): string =>
  `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
