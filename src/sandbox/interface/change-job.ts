// Handles create, update and delete requests (site-interface.md, section 4).

import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import { SaxesParser } from 'saxes';
import { checkJob, type JobError, storedFields } from '../job-rules.ts';
import type { JobSite, SiteEnv } from '../job-site.ts';
import type { SandboxSettings } from '../settings.ts';
import type { IdPlan, JobFields } from '../store/jobs.ts';
import { failure, notThere, notYours, unauthorized, xmlAnswer } from './answers.ts';
import { readBody } from './request-body.ts';
import { jobXml, validationErrorBody } from './write-xml.ts';

/** POST `/jobs.xml`: 201, with Location and the complete XML. */
export async function createJob(c: Context<SiteEnv>, site: JobSite): Promise<Response> {
  const settings = site.settings();
  const account = c.get('account');
  if (!account) return unauthorized();
  const fields = await fieldsOf(c, site);
  if (fields instanceof Response) return fields;
  const checked = checkJob(fields, true, settings);
  if (checked.kind === 'invalid') return refused(checked.errors, settings);
  const stored = storedFields(fields, settings);
  const job = await site.jobs.create(account.id, planId(fields, settings), checked.state ?? '', stored);
  return xmlAnswer(jobXml(job, settings), 201, { location: locationOf(c, job.id, settings) });
}

/** PUT, and as in Rails PATCH, `/jobs/<id>.xml`: 200; sets the given fields, and keeps or clears the others. */
export async function updateJob(c: Context<SiteEnv>, site: JobSite, id: string): Promise<Response> {
  const settings = site.settings();
  const account = c.get('account');
  if (!account) return unauthorized();
  const job = await site.jobs.find(id);
  if (!job) return notThere(await site.jobs.findDeleted(id));
  if (job.ownerId !== account.id) return notYours();
  const fields = await fieldsOf(c, site);
  if (fields instanceof Response) return fields;
  const replaces = settings.omittedFields === 'clear';
  const checked = checkJob(fields, replaces, settings);
  if (checked.kind === 'invalid') return refused(checked.errors, settings);
  const changed = await site.jobs.update(account.id, id, storedFields(fields, settings), checked.state, replaces);
  if (changed.kind === 'missing') return notThere(await site.jobs.findDeleted(id));
  if (changed.kind === 'foreign') return notYours();
  if (settings.updateBody === 'job') return xmlAnswer(jobXml(changed.job, settings));
  if (settings.updateBody === 'none') return new Response(null, { status: 204 });
  // Rule 5 leaves the body open. Older versions of Rails send a blank one for "no content".
  return new Response(settings.updateBody === 'blank' ? ' ' : '', { headers: { 'content-type': 'application/xml' } });
}

/** DELETE `/jobs/<id>.xml`: 200 or 204 (rule 3), if the account may delete it (rule 4). */
export async function deleteJob(c: Context<SiteEnv>, site: JobSite, id: string): Promise<Response> {
  const account = c.get('account');
  if (!account) return unauthorized();
  const deleted = await site.jobs.delete(account.id, id, site.settings().deletedJobs !== 'no');
  if (deleted.kind === 'missing') return notThere(await site.jobs.findDeleted(id));
  if (deleted.kind === 'foreign') return notYours();
  return new Response(null, { status: site.settings().deleteStatus });
}

/** What Rails takes for XML. */
const XML_TYPES = new Set(['application/xml', 'application/x-xml', 'text/xml']);

/** The fields of the body, or an error response. */
async function fieldsOf(c: Context<SiteEnv>, site: JobSite): Promise<JobFields | Response> {
  const [, type = '', charset] = /^([^;]*)(?:;.*charset="?([\w-]+))?/i.exec(c.req.header('content-type') ?? '') ?? [];
  if (!XML_TYPES.has(type.trim().toLowerCase())) {
    return failure(415, 'The body must be XML: send the header Content-Type: application/xml.');
  }
  if (charset && charset.toLowerCase() !== 'utf-8') return failure(415, 'The body must be UTF-8.');
  const body = await readBody(c, site);
  if (body === 'too-large') {
    return failure(413, `The body is larger than ${site.settings().maxBodyBytes} bytes.`, { connection: 'close' });
  }
  const read = readJob(body);
  if (read.kind === 'unreadable') return failure(400, read.message);
  return read.kind === 'invalid' ? refused(read.errors, site.settings()) : read.fields;
}

function refused(errors: readonly JobError[], settings: SandboxSettings): Response {
  const body = validationErrorBody(errors, settings);
  return new Response(body.text, {
    status: settings.validationStatus,
    headers: { 'content-type': `${body.type}; charset=utf-8` },
  });
}

function locationOf(c: Context<SiteEnv>, id: string, settings: SandboxSettings): string {
  const [form, extension] = settings.location.split('-');
  const path = `/jobs/${encodeURIComponent(id)}${extension ? `.${extension}` : ''}`;
  return form === 'absolute' ? new URL(path, c.req.url).href : path;
}

/** How the ID of a new job is formed. */
export function planId(fields: JobFields, settings: Pick<SandboxSettings, 'idForm' | 'idReuse'>): IdPlan {
  if (settings.idForm === 'uuid') return { prefix: randomUUID(), numbered: false, reused: false };
  if (settings.idForm === 'number') return { prefix: '', numbered: true, reused: settings.idReuse };
  const words = (fields.title ?? '').toLowerCase().match(/[a-z0-9]+/g) ?? ['job'];
  return { prefix: `${words.join('-').slice(0, 60)}-`, numbered: true, reused: false };
}

// Parses the body of a create or an update into fields (site-interface.md, section 2: root `job`, one element per field).

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
function readJob(body: Uint8Array): ReadJob {
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
