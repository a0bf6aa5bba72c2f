// Turns what the interface came to into responses with XML bodies and fitting statuses.
import { failureXml } from '../xml/error-xml.ts';
import { writeDocument, type Xml } from '../xml/write-xml.ts';

const XML_TYPE = 'application/xml; charset=utf-8';

/** A document with status 200, or another. */
export const xmlAnswer = (root: Xml, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(writeDocument(root), { status, headers: { 'content-type': XML_TYPE, ...headers } });

/** A failure with a message for the person who wrote the client. */
export const failure = (status: number, message: string, headers: Record<string, string> = {}): Response =>
  new Response(failureXml(message), { status, headers: { 'content-type': XML_TYPE, ...headers } });

export const notThere = (): Response => failure(404, 'There is no such job.');
export const notYours = (): Response => failure(403, 'This job belongs to another account.');
export const unauthorized = (): Response =>
  failure(401, 'Send your token as the user name of HTTP Basic authentication; it stands under My Account.', {
    'www-authenticate': 'Basic realm="Jobs", charset="UTF-8"',
  });

/** The methods of each resource, for the Allow header of a 405. */
export const notAllowed = (methods: string): Response =>
  failure(405, `This address takes ${methods}.`, { allow: methods });
