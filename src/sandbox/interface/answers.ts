// Builds responses with XML bodies.
import type { Job } from '../store/jobs.ts';
import { failureXml, writeDocument, type Xml } from './write-xml.ts';

const XML_TYPE = 'application/xml; charset=utf-8';

/** A document, by default with status 200. */
export const xmlAnswer = (root: Xml, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(writeDocument(root), { status, headers: { 'content-type': XML_TYPE, ...headers } });

/** A failure with a message for the client's developer. */
export const failure = (status: number, message: string, headers: Record<string, string> = {}): Response =>
  new Response(failureXml(message), { status, headers: { 'content-type': XML_TYPE, ...headers } });

/** @param deleted a job that was there. */
export const notThere = (deleted?: Job): Response =>
  deleted === undefined ? failure(404, 'There is no such job.') : failure(410, 'This job was deleted.');
export const notYours = (): Response => failure(403, 'This job belongs to another account.');
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
