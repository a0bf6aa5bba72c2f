// Turns a job ID into the path of its requests, and the URL of a job back into its ID.
import { type SiteJobId, siteJobId } from '../../posting/identifiers.ts';

/** A job's ID and URL as far as an address tells them. */
export interface JobAddress {
  /** From the path segment after `jobs`. */
  readonly siteJobId?: SiteJobId;
  /** Where no segment is `jobs`: from the last one. ASSUMED: a site that promises the URL of a job means it. */
  readonly guessedId?: SiteJobId;
  /** Absolute `http(s)` URL without credentials, for people to follow; no request is ever sent to it. */
  readonly url?: string;
}

/** Longer ones are taken for something else than an ID. */
const MAX_ID_LENGTH = 255;
/** Longer ones are no addresses, and take their time to be read. */
const MAX_URL_LENGTH = 16 << 10;

/** Path of the create action (site-interface.md, section 4). */
export const CREATE_PATH = '/jobs.xml';

/** Path of one job's show, update and delete actions, below the base URL. */
export const jobPath = (id: SiteJobId): string => `/jobs/${encodeURIComponent(id)}.xml`;

/** A usable ID: trimmed, not empty, of a sensible length, without line breaks; otherwise `undefined`. */
export function readJobId(text: string | undefined): SiteJobId | undefined {
  const id = text?.trim();
  // A lone half of a surrogate pair can't be put into a path.
  if (!id || id.length > MAX_ID_LENGTH || /[\p{Cc}\p{Cs}]/u.test(id)) return undefined;
  return siteJobId(id);
}

/**
 * Reads the URL of a job, as in `Location`: absolute or relative to `base`, with or without `.xml`, with a slash or a
 * query behind it. Comes back empty where it is no `http(s)` URL.
 */
export function readJobUrl(location: string, base: URL): JobAddress {
  if (location.length > MAX_URL_LENGTH || !URL.canParse(location, base.href)) return {};
  const url = new URL(location, base.href);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return {};
  url.username = '';
  url.password = '';
  const segments = url.pathname.split('/').filter((segment) => segment !== '');
  const jobs = segments.lastIndexOf('jobs');
  if (jobs >= 0) return { siteJobId: readSegment(segments[jobs + 1]), url: url.href };
  return { guessedId: readSegment(segments.at(-1)), url: url.href };
}

/** Whether a URL names one job below `jobs`, as `/jobs/12` does, and `/login` or `/jobs.xml` do not. */
export function pointsAtJob(location: string, base: URL): boolean {
  if (!URL.canParse(location, base.href)) return false;
  return /\/jobs\/[^/]+/.test(new URL(location, base.href).pathname);
}

const SIGN_IN = /(log|sign)[-_.]?(in|on)\b|\b(session|sso|oauth2?|auth|password)s?\b/i;

/**
 * Whether a redirect after a create may say that it was done, as sites lead from a form to another of their pages. The same
 * path elsewhere is a moved interface, and a page to sign in at says that nothing was done. Another port is another site;
 * http and https at their own ports are one.
 */
export function mayFollowCreate(location: string, base: URL): boolean {
  if (!URL.canParse(location, base.href)) return false;
  const target = new URL(location, base.href);
  if (target.host !== base.host || SIGN_IN.test(target.pathname)) return false;
  return target.origin === base.origin || target.pathname !== base.pathname;
}

function readSegment(segment: string | undefined): SiteJobId | undefined {
  const name = segment?.replace(/\.(xml|html?)$/i, '');
  // `/jobs.xml` is the collection, not a job in it.
  if (!name || name === 'jobs') return undefined;
  try {
    return readJobId(decodeURIComponent(name));
  } catch {
    return undefined;
  }
}
