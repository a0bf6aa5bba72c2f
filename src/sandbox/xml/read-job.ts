// Parses the body of a create or an update into fields (site-interface.md, section 2: root `job`, one element per field).
import type { JobError } from '../job-rules.ts';
import type { JobFields } from '../store/jobs.ts';
import { NotWellFormed, parseXml, type XmlElement } from './parse-xml.ts';

/** The result of parsing. `message` is for the client's developer. */
export type ReadJob =
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
