// The version of an HTTP resource: its validators, bound to the address that sent them.
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** The validators of a response; at least one is set. */
export interface HttpVersion {
  readonly etag?: string;
  readonly lastModified?: string;
  /** Digest of the address, which may contain a secret. */
  readonly address: string;
}

/** The version of a response from `url`, after any redirects; `undefined` if it has no validators that can be relied on. */
export function versionOf(
  url: URL,
  { etag, 'last-modified': modified, date }: IncomingHttpHeaders,
): string | undefined {
  const lastModified = isStrong(modified, date) ? modified : undefined;
  if (etag === undefined && lastModified === undefined) return undefined;
  return JSON.stringify({ etag, lastModified, address: addressDigest(url) } satisfies HttpVersion);
}

const SECOND_MS = 1_000;

/** A resource that changed in the second in which it was sent may change again in that second (RFC 9110, 8.8.2.2). */
const isStrong = (modified = '', date = ''): boolean => Date.parse(date) - Date.parse(modified) >= SECOND_MS;

/**
 * The version to ask `url` for, if it sent that version. Validators distinguish versions of one resource (RFC 9110, 8.8),
 * and a redirect may lead to another resource.
 */
export function askedVersion(version: string | undefined, url: URL): HttpVersion | undefined {
  const asked = version === undefined ? undefined : parsed(version);
  return asked?.address === addressDigest(url) ? asked : undefined;
}

/** `undefined` for a version that something else made: the resource is then requested unconditionally. */
function parsed(version: string): HttpVersion | undefined {
  try {
    return JSON.parse(version);
  } catch {
    return undefined;
  }
}

/** The headers of a request that is answered with 304 if the resource still has this version. */
export function conditionalHeaders(asked: HttpVersion | undefined): Record<string, string> {
  return {
    ...(asked?.etag === undefined ? {} : { 'if-none-match': asked.etag }),
    ...(asked?.lastModified === undefined ? {} : { 'if-modified-since': asked.lastModified }),
  };
}

const addressDigest = (url: URL): string => hash('sha256', url.href, 'hex');
