// Requests a resource over HTTP: with credentials, which stay within their origin, through safe redirects, and only if
// it is no longer the version that is known.
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { FeedReadingError, reasonOf } from '../source.ts';
import { mayRenewToken, secretHeaders, withKeyInQuery } from './credentials.ts';
import { addressForMessages, type HttpConfig } from './http-config.ts';
import { type Headers, type HttpConditions, type HttpExchange, type HttpRequest, send } from './response.ts';

interface ResourceRequest {
  /** At the origin of the configured address. */
  readonly url: URL;
  readonly method?: 'GET' | 'POST';
  /** JSON. */
  readonly body?: string;
  /** More headers for an address, which redirects may lead to. */
  headersFor?(url: URL): Headers;
}

type ResourceAnswer =
  /** Any status that is no redirect. */
  | { readonly kind: 'answered'; readonly url: URL; readonly exchange: HttpExchange }
  | { readonly kind: 'failed'; readonly message: string; readonly isPassing?: boolean };

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Sends the request, a second time with a new access token if the first is refused. Throws the reason of the signal. */
export async function requestResource(
  config: HttpConfig,
  request: ResourceRequest,
  { signal, network }: HttpConditions,
): Promise<ResourceAnswer> {
  const conditions = { signal, network, proxy: config.proxy };
  const answer = await follow(config, request, conditions);
  if (answer.kind === 'failed' || answer.exchange.response.statusCode !== 401 || !mayRenewToken(config)) return answer;
  answer.exchange.response.destroy();
  return follow(config, request, conditions);
}

async function follow(
  config: HttpConfig,
  { url: first, method = 'GET', body, headersFor }: ResourceRequest,
  conditions: HttpConditions,
): Promise<ResourceAnswer> {
  let url = withKeyInQuery(first, config);
  let secrets: Headers;
  try {
    secrets = await secretHeaders(config, conditions);
  } catch (error) {
    conditions.signal.throwIfAborted();
    if (error instanceof FeedReadingError) return failed(error.message);
    throw error;
  }
  let tls = config.credentials?.tls;
  let startedPublic = true;
  const plain = {
    accept: config.accept,
    'accept-encoding': 'gzip',
    ...ASK_THE_SOURCE,
    ...(body === undefined ? {} : JSON_BODY),
  };
  for (let redirects = 0; ; redirects++) {
    const mustBePublic = redirects > 0 && startedPublic && !config.allowPrivateRedirects;
    const headers = { ...plain, ...secrets, ...headersFor?.(url) };
    const sent = await sendOnce({ url, method, headers, body, tls, mustBePublic }, conditions);
    if (sent.kind === 'failed') return sent;
    const { response, connectedTo } = sent.exchange;
    if (redirects === 0) startedPublic = connectedTo === undefined || !conditions.network.isPrivate(connectedTo);
    const status = response.statusCode ?? 0;
    if (!REDIRECTS.has(status)) return { kind: 'answered', url, exchange: sent.exchange };

    response.destroy();
    const { location } = response.headers;
    if (location === undefined || !URL.canParse(location, url.href))
      return failed(`${addressForMessages(url)} redirects (${status}) without a valid Location header`);
    // A request with a body would have to be repeated as another one (RFC 9110, 15.4).
    if (method === 'POST' && status !== 307 && status !== 308)
      return failed(`${addressForMessages(url)} redirects a POST (${status}); configure the final address of the feed`);
    const target = new URL(location, url);
    if (redirects >= config.maxRedirects) {
      return failed(
        `${addressForMessages(url)} redirects again after ${redirects} redirects; configure the final address of the feed`,
      );
    }
    if (target.protocol !== 'https:' && (target.protocol !== 'http:' || url.protocol === 'https:')) {
      return failed(
        `${addressForMessages(url)} redirects to ${addressForMessages(target)}; redirects from https are followed only to https`,
      );
    }
    // RFC 9110, 15.4: credentials for one origin must not be sent to another.
    if (target.origin !== url.origin) {
      if (body !== undefined)
        return failed(`${addressForMessages(url)} redirects a POST to another origin, ${target.origin}`);
      secrets = {};
      tls = undefined;
    }
    url = target;
  }
}

/**
 * RFC 9111, 4.2.2: without it, a cache may answer from a copy that it takes for fresh because the resource had not changed for long, also
 * with 304. Squid does so for up to three days. With `no-cache` sources never answer 304 that ask the npm package `fresh`, as Express does.
 */
const ASK_THE_SOURCE = { 'cache-control': 'max-age=0' };
const JSON_BODY = { 'content-type': 'application/json' };

async function sendOnce(
  request: HttpRequest,
  conditions: HttpConditions,
): Promise<{ kind: 'sent'; exchange: HttpExchange } | { kind: 'failed'; message: string; isPassing: boolean }> {
  try {
    return { kind: 'sent', exchange: await send(request, conditions) };
  } catch (error) {
    conditions.signal.throwIfAborted();
    const message = `${addressForMessages(request.url)} can't be reached: ${reasonOf(error)}`;
    return { kind: 'failed', message, isPassing: !(error instanceof FeedReadingError) };
  }
}

const failed = (message: string): ResourceAnswer => ({ kind: 'failed', message });

/** The validators of a response; at least one is set. */
interface HttpVersion {
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
