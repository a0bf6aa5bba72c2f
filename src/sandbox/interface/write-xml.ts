// Writes XML documents, and the responses that carry them: one job, a list of jobs, the states with their counts, and errors as configured. Names come
// from the code or were checked when they were stored; all escaping of text happens here. Not xmlbuilder2: the worker
// writes with it, and the sandbox must not share a mistake with it.
import { errorSentence, type JobError, stateByAbbreviation, typeOf } from '../job-rules.ts';
import type { Job, JobFields } from '../jobs.ts';
import type { SandboxSettings } from '../settings.ts';

/** Finished XML. A separate type prevents unescaped text from being used as XML. */
export interface Xml {
  readonly xml: string;
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#13;',
};
const escapeXml = (text: string): string => text.replace(/[&<>"\r]/g, (character) => escapes[character] ?? character);
const escapeAttribute = (text: string): string => escapeXml(text).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;');

/** One element with text, or with child elements on separate lines. */
export function element(
  name: string,
  content: string | readonly Xml[],
  attributes: Readonly<Record<string, string | number>> = {},
): Xml {
  const opening = Object.entries(attributes).reduce(
    (tag, [key, value]) => `${tag} ${key}="${escapeAttribute(String(value))}"`,
    name,
  );
  const inner = typeof content === 'string' ? escapeXml(content) : content.map((child) => `\n${child.xml}`).join('');
  if (inner === '') return { xml: `<${opening}/>` };
  return { xml: `<${opening}>${inner}${typeof content === 'string' ? '' : '\n'}</${name}>` };
}

/** A whole document. */
export const writeDocument = (root: Xml): string => `<?xml version="1.0" encoding="UTF-8"?>\n${root.xml}\n`;

// The XML of one job, of a list of jobs, and of the states with their counts.

type Spelling = Pick<SandboxSettings, 'separator' | 'idInBody' | 'types'>;

/** The known fields in display order; others follow, sorted by name. */
export const knownFields = [
  'number',
  'title',
  'category-name',
  'description',
  'location-city',
  'location-state',
  'contact-email-address',
  'contact-web-address',
] as const;

const rank = new Map<string, number>(knownFields.map((name, index) => [name, index]));

const NIL = { nil: 'true' };

/** The fields of a job in display order. */
export const orderedFields = (fields: JobFields): readonly [string, string][] =>
  Object.entries(fields).sort(
    ([a], [b]) => (rank.get(a) ?? rank.size) - (rank.get(b) ?? rank.size) || (a < b ? -1 : 1),
  );

/** A field's name in the configured spelling. */
const spellField = (name: string, settings: Spelling): string =>
  settings.separator === '_' ? name.replaceAll('-', '_') : name;

/** The complete XML of a job (site-interface.md, section 2). */
export function jobXml(job: Job, settings: Spelling): Xml {
  const time = (name: string, at: Date): Xml => {
    const spelt = settings.separator === '-' ? name.replaceAll('_', '-') : name;
    return element(spelt, at.toISOString(), typed('dateTime', settings));
  };
  return element('job', [
    ...(settings.idInBody ? [element('id', job.id, typed(typeOf(job.id, 'id'), settings))] : []),
    ...orderedFields(job.fields).map(([name, value]) =>
      element(spellField(name, settings), value, typed(typeOf(value, name), settings)),
    ),
    time('created_at', job.createdAt),
    time('updated_at', job.updatedAt),
    ...(job.deletedAt === undefined ? [] : [time('deleted_at', job.deletedAt)]),
  ]);
}

/** A job that was not made yet, as Rails shows it for its form. */
export const emptyJobXml = (settings: Spelling): Xml =>
  element('job', [
    ...(settings.types ? [element('id', '', { type: 'integer', ...NIL })] : []),
    ...knownFields.map((name) => element(spellField(name, settings), '', settings.types ? NIL : {})),
  ]);

const typed = (type: string | undefined, { types }: Spelling): Readonly<Record<string, string>> =>
  types && type !== undefined ? { type } : {};

export const statesXml = (counts: readonly { readonly state: string; readonly count: number }[]): Xml =>
  element(
    'states',
    counts.map(({ state, count }) =>
      element('state', [
        element('name', stateByAbbreviation(state)?.name ?? state),
        element('abbreviation', state),
        element('jobs', String(count)),
      ]),
    ),
    { type: 'array' },
  );

/** A response body with its media type. */
interface ErrorBody {
  readonly type: 'application/xml' | 'text/plain';
  readonly text: string;
}

/** A client may invent a field whose name is not a valid element name. */
const elementName = /^[A-Za-z][A-Za-z0-9.-]*$/;

type Write = (errors: readonly JobError[], spelt: (error: JobError) => string) => Xml;

const sentences = (errors: readonly JobError[]): readonly Xml[] =>
  errors.map((error) => element('error', errorSentence(error)));

const shapes: Readonly<Record<Exclude<SandboxSettings['errorShape'], 'plain-text'>, Write>> = {
  errors: (errors) => element('errors', sentences(errors)),
  'errors-array': (errors) => element('errors', sentences(errors), { type: 'array' }),
  'field-attribute': (errors, spelt) =>
    element(
      'errors',
      errors.map((error) => element('error', error.message, { field: spelt(error) })),
    ),
  nested: (errors, spelt) =>
    element(
      'errors',
      errors.map((error) => element('error', [element('field', spelt(error)), element('message', error.message)])),
    ),
  'error-root': (errors) =>
    element(
      'error',
      errors.map((error) => element('message', errorSentence(error))),
    ),
  'field-named': (errors, spelt) =>
    element(
      'errors',
      errors.map((error) => element(elementName.test(error.field) ? spelt(error) : 'base', error.message)),
    ),
};

/** The validation errors in the configured shape. */
export function validationErrorBody(
  errors: readonly JobError[],
  settings: Pick<SandboxSettings, 'errorShape' | 'separator' | 'idInBody' | 'types'>,
): ErrorBody {
  if (settings.errorShape === 'plain-text') {
    return { type: 'text/plain', text: `${errors.map(errorSentence).join('\n')}\n` };
  }
  const xml = shapes[settings.errorShape](errors, (error) => spellField(error.field, settings));
  return { type: 'application/xml', text: writeDocument(xml) };
}

// Builds responses with XML bodies.

const XML_TYPE = 'application/xml; charset=utf-8';

/** A document, by default with status 200. */
export const xmlAnswer = (root: Xml, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(writeDocument(root), { status, headers: { 'content-type': XML_TYPE, ...headers } });

/** Every failure but those of validation: an `error` with one message for the client's developer. */
export const failure = (status: number, message: string, headers: Record<string, string> = {}): Response =>
  xmlAnswer(element('error', [element('message', message)]), status, headers);

/** @param deleted a job that was there. */
export const jobNotFound = (deleted?: Job): Response =>
  deleted === undefined ? failure(404, 'There is no such job.') : failure(410, 'This job was deleted.');
export const jobOfAnotherAccount = (): Response => failure(403, 'This job belongs to another account.');
export const unauthorized = (): Response =>
  failure(401, 'Send your token as the user name of HTTP Basic authentication; find it under My Account.', {
    'www-authenticate': 'Basic realm="Jobs", charset="UTF-8"',
  });

/** A 405; `methods` are those of the resource, for the Allow header. */
export const notAllowed = (methods: string): Response =>
  failure(405, `This address takes ${methods}.`, { allow: methods });

// Maps a method and path to an operation of site-interface.md, section 4.

/** The operations of the interface, in the order of its table. */
export const operations = ['show', 'create', 'update', 'delete', 'list'] as const;
export type Operation = (typeof operations)[number];

const oneJob = /^\/jobs\/[^/]+$/;

/**
 * The operation of a request.
 * @param path without the extension `.xml`
 * @returns `undefined` for anything else, such as the form of a new job
 */
export function operationOf(method: string, path: string): Operation | undefined {
  if (path === '/jobs/new') return undefined;
  if (method === 'GET' || method === 'HEAD') return oneJob.test(path) ? 'show' : 'list';
  if (method === 'POST') return path === '/jobs' ? 'create' : undefined;
  if (!oneJob.test(path)) return undefined;
  return method === 'PUT' || method === 'PATCH' ? 'update' : method === 'DELETE' ? 'delete' : undefined;
}
