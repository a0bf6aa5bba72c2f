// The XML interface: handles requests whose path ends in `.xml` (site-interface.md).
// A request passes the request log, the faults, authentication and the resource, in this order.

import { randomUUID } from 'node:crypto';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { SaxesParser } from 'saxes';
import { checkJob, type JobError, stateBySlug, storedFields } from '../job-rules.ts';
import type { JobSite, SiteEnv } from '../job-site.ts';
import { identify } from '../job-site.ts';
import type { IdPlan, JobFields } from '../jobs.ts';
import { MAX_BODY } from '../request-log.ts';
import type { SandboxSettings } from '../settings.ts';
import { gone } from './fault-row.ts';
import { listJobs } from './list-jobs.ts';
import {
  element,
  emptyJobXml,
  failure,
  jobNotFound,
  jobOfAnotherAccount,
  jobXml,
  notAllowed,
  operationOf,
  statesXml,
  unauthorized,
  validationErrorBody,
  xmlAnswer,
} from './write-xml.ts';

/** Whether a path requests the XML form of a page. */
export const asksForXml = (path: string): boolean => path.endsWith('.xml');

/** The path without its extension: `/jobs/7.xml` → `/jobs/7`, `/.xml` → `/`. */
const pagePath = (request: Request): string => new URL(request.url).pathname.slice(0, -'.xml'.length);

const UNSAFE = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

export function createXmlApp(site: JobSite): Hono<SiteEnv> {
  const app = new Hono<SiteEnv>({ getPath: pagePath });
  app.use(recorded(site));
  app.use(throughFaults(site));
  app.use(async (c, next) => {
    // Browsers send cookies with cross-site requests too, so a cookie only authorises reads.
    const identity = await identify(c, site, !UNSAFE.has(c.req.method));
    if (identity.kind === 'wrong') return unauthorized();
    if (identity.kind === 'account') {
      c.set('account', identity.account);
      c.get('request').account = identity.account.email;
    }
    return next();
  });

  app.get('/', () => showHome(site));
  app.get('/jobs', (c) => listJobs(c, site, { search: c.req.query('q') || undefined }));
  app.post('/jobs', (c) => createJob(c, site));
  app.get('/jobs/new', () => xmlAnswer(emptyJobXml(site.settings())));
  app.get('/jobs/:id', async (c) => {
    const id = c.req.param('id');
    const job = await site.jobs.find(id);
    if (job !== undefined) return xmlAnswer(jobXml(job, site.settings()));
    const deleted = await site.jobs.findDeleted(id);
    const isShown = deleted !== undefined && site.settings().deletedJobs === 'flagged';
    return isShown ? xmlAnswer(jobXml(deleted, site.settings())) : jobNotFound(deleted);
  });
  app.on(['PUT', 'PATCH'], '/jobs/:id', (c) => updateJob(c, site, c.req.param('id')));
  app.delete('/jobs/:id', (c) => deleteJob(c, site, c.req.param('id')));
  app.get('/states', async () => xmlAnswer(statesXml(await site.jobs.countByState())));
  app.get('/states/:slug', (c) => {
    const state = stateBySlug(c.req.param('slug'));
    return state ? listJobs(c, site, { state: state.abbreviation }) : failure(404, 'There is no such state.');
  });
  app.get('/account/jobs', (c) => {
    const account = c.get('account');
    return account ? listJobs(c, site, { ownerId: account.id }) : unauthorized();
  });

  app.all('/jobs', () => notAllowed('GET, POST'));
  app.all('/jobs/:id', () => notAllowed('GET, PUT, PATCH, DELETE'));
  for (const path of ['/', '/states', '/states/:slug', '/account/jobs']) app.all(path, () => notAllowed('GET'));
  app.notFound(() => failure(404, 'There is no such page.'));
  app.onError((error) => {
    if (!site.closing.aborted) site.log('request failed', { error: error.stack ?? error.message });
    return failure(500, 'Something went wrong.');
  });
  return app;
}

/** The home page: the number of jobs, and the newest ones. */
async function showHome(site: JobSite): Promise<Response> {
  const { jobs, total } = await site.jobs.list({}, 0, 5);
  return xmlAnswer(
    element('home', [
      element('total', String(total)),
      element(
        'newest',
        jobs.map((job) => jobXml(job, site.settings())),
        { type: 'array' },
      ),
    ]),
  );
}

// Passes each request of the interface through the active faults.
const throughFaults =
  (site: JobSite): MiddlewareHandler<SiteEnv> =>
  async (c, next) => {
    const request = c.get('request');
    const answer = await site.faults.run(
      {
        incoming: c.env.incoming,
        outgoing: c.env.outgoing,
        closing: site.closing,
        operation: request.operation,
        struck: (name) => request.faults.push(name),
        receive: async () => void (await readBody(c, site)),
        refuseConnections: site.refuseConnections,
      },
      async () => {
        await next();
        request.processed = c.res.status;
        return c.res;
      },
    );
    if (answer === c.res) return;
    // Assigning a response over another merges the headers; a fault's response must stay unchanged.
    c.res = undefined;
    c.res = answer;
  };

// Records each request of the interface in the request log, once its response is sent or its client is gone.
const recorded =
  (site: JobSite): MiddlewareHandler<SiteEnv> =>
  async (c, next) => {
    const { incoming, outgoing } = c.env;
    const request = site.requests.begin(c.req.method, incoming.url ?? '', operationOf(c.req.method, c.req.path));
    c.set('request', request);
    const answered = gone(outgoing);
    try {
      await next();
    } finally {
      void answered.then(() => {
        if (outgoing.writableFinished) request.status = outgoing.statusCode;
        site.requests.end(request);
      });
    }
  };

// Handles create, update and delete requests (site-interface.md, section 4).

/** POST `/jobs.xml`: 201, with Location and the complete XML. */
async function createJob(c: Context<SiteEnv>, site: JobSite): Promise<Response> {
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
async function updateJob(c: Context<SiteEnv>, site: JobSite, id: string): Promise<Response> {
  const settings = site.settings();
  const account = c.get('account');
  if (!account) return unauthorized();
  const job = await site.jobs.find(id);
  if (!job) return jobNotFound(await site.jobs.findDeleted(id));
  if (job.ownerId !== account.id) return jobOfAnotherAccount();
  const fields = await fieldsOf(c, site);
  if (fields instanceof Response) return fields;
  const replaces = settings.omittedFields === 'clear';
  const checked = checkJob(fields, replaces, settings);
  if (checked.kind === 'invalid') return refused(checked.errors, settings);
  const changed = await site.jobs.update(account.id, id, storedFields(fields, settings), checked.state, replaces);
  if (changed.kind === 'missing') return jobNotFound(await site.jobs.findDeleted(id));
  if (changed.kind === 'foreign') return jobOfAnotherAccount();
  if (settings.updateBody === 'job') return xmlAnswer(jobXml(changed.job, settings));
  if (settings.updateBody === 'none') return new Response(null, { status: 204 });
  // Rule 5 leaves the body open. Older versions of Rails send a blank one for "no content".
  return new Response(settings.updateBody === 'blank' ? ' ' : '', { headers: { 'content-type': 'application/xml' } });
}

/** DELETE `/jobs/<id>.xml`: 200 or 204 (rule 3), if the account may delete it (rule 4). */
async function deleteJob(c: Context<SiteEnv>, site: JobSite, id: string): Promise<Response> {
  const account = c.get('account');
  if (!account) return unauthorized();
  const deleted = await site.jobs.delete(account.id, id, site.settings().deletedJobs !== 'no');
  if (deleted.kind === 'missing') return jobNotFound(await site.jobs.findDeleted(id));
  if (deleted.kind === 'foreign') return jobOfAnotherAccount();
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

// Reads request bodies up to the site's size limit. Both a fault and the site may request the same body.

/** The whole body; it is read only once. */
function readBody(c: Context<SiteEnv>, site: JobSite): Promise<Uint8Array | 'too-large'> {
  const known = c.get('body');
  if (known) return known;
  const reading = receive(c, site.settings().maxBodyBytes).then((body) => {
    if (body !== 'too-large' && body.length > 0) {
      c.get('request').body = Buffer.from(body.subarray(0, MAX_BODY)).toString('utf8');
    }
    return body;
  });
  c.set('body', reading);
  return reading;
}

async function receive(c: Context<SiteEnv>, limit: number): Promise<Uint8Array | 'too-large'> {
  const { incoming } = c.env;
  if (Number(incoming.headers['content-length'] ?? 0) > limit) return 'too-large';
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of incoming as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > limit) return 'too-large';
    pieces.push(piece);
  }
  return Buffer.concat(pieces, length);
}
