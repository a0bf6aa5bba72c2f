// Encodes a job's fields as the XML document that creates or updates it (site-interface.md, section 4, rule 1).
import type { Fields, Problem } from '../../posting/posting.ts';
import { removeIllegalCharacters } from '../../posting/xml-characters.ts';

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
  let children = '';
  for (const [field, value] of Object.entries(fields)) {
    if (!isFieldName(field)) throw new Error(`The site field "${field}" can't be the name of an XML element.`);
    const legal = removeIllegalCharacters(value);
    children += `<${field}>${escapeText(legal.text)}</${field}>`;
    if (legal.removed.length > 0) removed.push(noteRemoved(field, legal.removed));
  }
  const job = children === '' ? `<${element}/>` : `<${element}>${children}</${element}>`;
  return { xml: `<?xml version="1.0" encoding="UTF-8"?>${job}`, removed };
}

// A parser would read an unescaped CR as a line feed (XML 1.0, 2.11). Not xmlbuilder2, which builds a tree of nodes first: that took
// ten times as long, a twentieth of the time of sending.
const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\r', '&#13;');

function noteRemoved(field: string, found: readonly string[]): Problem {
  const points = [...new Set(found)].slice(0, 10).map(codePoint).join(', ');
  return { field, message: `Removed characters that XML can't carry: ${found.length} × ${points}` };
}

const codePoint = (character: string): string =>
  `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
