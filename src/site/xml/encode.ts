// Turns a job's fields into the XML document that creates or updates it (site-interface.md, section 4, rule 1).
import { create } from 'xmlbuilder2';
import type { Fields, Problem } from '../../posting/posting.ts';
import { removeIllegalCharacters } from '../../posting/xml-characters.ts';

/** A document for the site, and what had to be left out of it. */
export interface EncodedSiteJob {
  /** UTF-8 text with an XML declaration and the root `job`. */
  readonly xml: string;
  /** One note per field from which characters were removed that XML 1.0 can't carry. */
  readonly removed: readonly Problem[];
}

const elementName = /^(?!xml)[A-Za-z_][A-Za-z0-9_.-]*$/i;

/** Whether a configured field name can be the name of an element: ASCII, no prefix, not beginning with `xml`. */
export const isFieldName = (name: string): boolean => elementName.test(name);

/**
 * Encodes one job: root `job`, one child per field, in the order of the fields. Every string comes back equal from a
 * conforming parser, except for the characters that XML 1.0 has no place for (most control characters, U+FFFE, U+FFFF,
 * lone surrogates): these are removed and noted. Throws for a field name that is no element name, which is a mistake
 * in the configuration and never depends on a feed.
 */
export function encodeSiteJob(fields: Fields): EncodedSiteJob {
  const removed: Problem[] = [];
  const job = create({ version: '1.0', encoding: 'UTF-8' }).ele('job');
  for (const [field, value] of Object.entries(fields)) {
    if (!isFieldName(field)) throw new Error(`The site field "${field}" can't be the name of an XML element.`);
    const legal = removeIllegalCharacters(value);
    job.ele(field).txt(escapeReferences(legal.text));
    if (legal.removed.length > 0) removed.push(noteRemoved(field, legal.removed));
  }
  // Names and characters have been looked at: the library need not do it again.
  return { xml: job.doc().end(), removed };
}

// xmlbuilder2 takes `&name;` and `&#13;` in a text for references and writes them as they are, so that the text `&nbsp;`
// would become a document that no parser reads. Where every `&` is a reference already, it has nothing to guess. That
// also carries CR, which a parser would read as a line feed if it stood there by itself (XML 1.0, 2.11).
const escapeReferences = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('\r', '&#13;');

function noteRemoved(field: string, found: readonly string[]): Problem {
  const points = [...new Set(found)].slice(0, 10).map(codePoint).join(', ');
  return { field, message: `Removed what XML can't carry: ${found.length} × ${points}` };
}

const codePoint = (character: string): string =>
  `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
