// Builds the request path for a job ID, reads the ID back from a job's URL, and tells the addresses of sites apart.
import { type SiteJobId, siteJobId } from '../../posting/identifiers.ts';

/** A job's ID and URL, as far as an address contains them. */
export interface JobAddress {
  /** From the path segment after `jobs`, or what the site calls them. */
  readonly siteJobId?: SiteJobId;
  /** From the last path segment, if none is `jobs`. ASSUMED: a site that promises the URL of a job returns one. */
  readonly guessedId?: SiteJobId;
  /** Absolute `http(s)` URL without credentials, for people to open; no request is ever sent to it. */
  readonly url?: string;
}

/** A longer text is not an ID. */
const MAX_ID_LENGTH = 255;
/** A longer text is not an address, and would take long to parse. */
const MAX_URL_LENGTH = 16 << 10;

/** What the site calls its jobs: the XML element of one, and the path below which they are. */
export interface Resource {
  readonly element: string;
  /** Begins with /, and does not end with one. */
  readonly path: string;
  /** Fields of its jobs, by which one is told that has another name, as many servers give it; absent: those of the interface. */
  readonly fields?: readonly string[];
}

/** As the interface has it (site-interface.md, sections 2 and 4). */
export const JOB: Resource = { element: 'job', path: '/jobs' };

export const createPath = ({ path }: Resource): string => `${path}.xml`;

/** Path of one job's show, update and delete actions, below the base URL. */
export const jobPath = (id: SiteJobId, { path }: Resource = JOB): string => `${path}/${encodeURIComponent(id)}.xml`;

/**
 * Host, port unless it is the default, and path without a trailing slash. Another port is another site, even on this
 * machine: a tunnel or forwarded port may lead anywhere. http and https are the same site: both appear in the
 * interface, and sites switch between them (site-interface.md, section 1). Where jobs are not below `/jobs`, the path at
 * which they are created is a part of it: the same ID below another path is another record.
 */
export function addressOf({
  baseUrl,
  resource = JOB,
}: {
  readonly baseUrl: URL;
  readonly resource?: Resource;
}): string {
  const collection = `${baseUrl.host}${baseUrl.pathname.replace(/\/+$/, '')}${resource.path}`;
  return collection.endsWith(JOB.path) ? collection.slice(0, -JOB.path.length) : `${collection}.xml`;
}

/** The path segment after which a job's ID is. */
const collectionOf = ({ path }: Resource): string => decodeSegment(path.slice(path.lastIndexOf('/') + 1)) ?? '';

/** Returns a usable ID: trimmed, not empty, of a sensible length, without line breaks; otherwise `undefined`. */
export function readJobId(text: string | undefined): SiteJobId | undefined {
  const id = text?.trim();
  // A lone surrogate cannot be put into a path.
  if (!id || id.length > MAX_ID_LENGTH || /[\p{Cc}\p{Cs}]/u.test(id)) return undefined;
  return siteJobId(id);
}

/**
 * Reads the URL of a job, as in `Location`: absolute or relative to `base`, with or without `.xml`, a trailing slash or
 * a query. Empty if it is not an `http(s)` URL.
 */
export function readJobUrl(location: string, base: URL, resource: Resource = JOB): JobAddress {
  const url = location.length > MAX_URL_LENGTH ? undefined : parseUrl(location, base);
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) return {};
  // Each setter parses the URL again.
  if (url.username !== '') url.username = '';
  if (url.password !== '') url.password = '';
  const segments = url.pathname.split('/').filter((segment) => segment !== '');
  const collection = collectionOf(resource);
  const jobs = segments.findLastIndex((segment) => decodeSegment(segment) === collection);
  if (jobs >= 0) return { siteJobId: readSegment(segments[jobs + 1], collection), url: url.href };
  return { guessedId: readSegment(segments.at(-1), collection), url: url.href };
}

function parseUrl(location: string, base: URL): URL | undefined {
  try {
    return new URL(location, base.href);
  } catch {
    return undefined;
  }
}

const SIGN_IN = /(log|sign)[-_.]?(in|on)\b|\b(session|sso|oauth2?|auth|password)s?\b/i;

/**
 * Where a redirect leads that may mean that a write succeeded: to a job, on whatever host, or to another page of the site. The same path
 * elsewhere means that the interface has moved, and a sign-in page means that nothing was done. Another port is another site; http and
 * https at their default ports are one.
 */
export function redirectAfterWrite(location: string, base: URL, resource: Resource = JOB): 'job' | 'page' | undefined {
  if (!URL.canParse(location, base.href)) return undefined;
  const target = new URL(location, base.href);
  if (target.origin !== base.origin && target.pathname === base.pathname) return undefined;
  // `/jobs/12` is a job; `/jobs/12/edit` is a page of one; `/login` and `/jobs.xml` are not.
  const segments = target.pathname.split('/');
  const jobs = segments.findIndex(
    (name, at) => at > 0 && decodeSegment(name) === collectionOf(resource) && segments[at + 1],
  );
  if (jobs > 0) return segments.slice(jobs + 2).every((name) => name === '') ? 'job' : 'page';
  return target.host === base.host && !SIGN_IN.test(target.pathname) ? 'page' : undefined;
}

function readSegment(segment: string | undefined, collection: string): SiteJobId | undefined {
  const name = decodeSegment(segment?.replace(/\.(xml|html?)$/i, '') ?? '');
  // `/jobs.xml` is the collection, not a job in it.
  return name === collection ? undefined : readJobId(name);
}

function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

// Compares what a site says of different jobs that it may not have.

/** A number that no site has reached, and that most can store. */
const UNUSED_NUMBER = '2147483629';
const MOST_WORDS = 4_000;

/** An ID of the same form that no job has: how a site answers about it, it answers about jobs that do not exist. */
export function unusedIdLike(id: SiteJobId): SiteJobId {
  if (/^\d{1,10}(-|$)/.test(id)) return siteJobId(id.replace(/^\d+/, UNUSED_NUMBER));
  const turned = (sign: string): string => {
    if (/\d/.test(sign)) return String((Number(sign) + 5) % 10);
    const first = /[a-f]/i.test(sign) ? 0 : 6;
    const letters = first === 0 ? 6 : 20;
    const base = /[a-z]/.test(sign) ? 97 : 65;
    return String.fromCharCode(base + first + ((sign.charCodeAt(0) - base - first + 3) % letters));
  };
  return siteJobId(id.replace(/[0-9a-z](?=.{0,7}$)/gi, turned));
}

/** What an answer says, without what differs from one job, or one request, to the next. */
export const wordsOfAnswer = (body: string, id: SiteJobId): string =>
  body
    .replaceAll(id, '#')
    .replace(/[0-9a-f-]{8,}|\d+/gi, '#')
    .replace(/\s+/g, ' ')
    .slice(0, MOST_WORDS);
