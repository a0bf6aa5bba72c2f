// Opens an http or https URL as a source: safe redirects, conditional requests, and proof that the body is whole.
import { type ClientRequestArgs, type IncomingMessage, request as requestHttp, STATUS_CODES } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { FeedSource } from '../feed-reading.ts';
import { askedVersion, conditionalHeaders, type HttpVersion, versionOf } from './http-version.ts';
import { guardLookup, hostAddress, type Network } from './redirect-guard.ts';
import { BrokenOff, type OpenedSource, reasonOf } from './source-body.ts';

type HttpSource = Pick<FeedSource, 'location' | 'headers' | 'allowPrivateRedirects'> & {
  readonly limits: Pick<FeedSource['limits'], 'maxRedirects'>;
};

export interface HttpConditions {
  /** From the previous reading: if the address that sent it still has that version, nothing is read. */
  readonly version?: string;
  /** Aborting it ends the request with its reason. */
  readonly signal: AbortSignal;
  readonly network: Network;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Opens the URL. It uses Node's own client, which distinguishes a reset connection from a closed one: undici takes both
 * for the regular end of a body without a length.
 */
export async function openHttp(source: HttpSource, conditions: HttpConditions): Promise<OpenedSource> {
  let url = new URL(source.location);
  let secrets = secretHeaders(source, url);
  let startedPublic = true;
  for (let redirects = 0; ; redirects++) {
    const mustBePublic = redirects > 0 && startedPublic && !source.allowPrivateRedirects;
    const asked = askedVersion(conditions.version, url);
    let exchange: Exchange;
    try {
      exchange = await send(url, { ...ACCEPTED, ...secrets, ...conditionalHeaders(asked) }, mustBePublic, conditions);
    } catch (error) {
      conditions.signal.throwIfAborted();
      return failed(`${shown(url)} can't be reached: ${reasonOf(error)}`);
    }
    const { response } = exchange;
    const connectedTo = response.socket.remoteAddress;
    if (redirects === 0) startedPublic = connectedTo === undefined || !conditions.network.isPrivate(connectedTo);
    const status = response.statusCode ?? 0;
    if (!REDIRECTS.has(status)) return checkResponse(url, exchange, asked, conditions.signal);

    response.destroy();
    const { location } = response.headers;
    if (location === undefined || !URL.canParse(location, url.href))
      return failed(`${shown(url)} redirects (${status}) without a valid Location header`);
    const target = new URL(location, url);
    if (redirects >= source.limits.maxRedirects) {
      return failed(
        `${shown(url)} redirects again after ${redirects} redirects; configure the final address of the feed`,
      );
    }
    if (target.protocol !== 'https:' && (target.protocol !== 'http:' || url.protocol === 'https:')) {
      return failed(`${shown(url)} redirects to ${shown(target)}; redirects from https are followed only to https`);
    }
    // RFC 9110, 15.4: credentials for one origin must not be sent to another.
    if (target.origin !== url.origin) secrets = {};
    url = target;
  }
}

type Headers = Record<string, string>;

interface Exchange {
  readonly response: IncomingMessage;
  /** A connection failure after the response head. The body may look complete despite it. */
  failure?: Error;
}

function secretHeaders(source: HttpSource, url: URL): Headers {
  const headers: Headers = {};
  if (url.username !== '' || url.password !== '') {
    const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    headers.authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  }
  for (const [name, value] of Object.entries(source.headers)) headers[name.toLowerCase()] = value.reveal();
  return headers;
}

/** Default headers; configured ones take precedence. */
const ACCEPTED: Headers = { accept: 'application/xml, text/xml, */*;q=0.5', 'accept-encoding': 'gzip' };

/** Sends one GET on a new connection; resolves with the response head. */
async function send(url: URL, headers: Headers, mustBePublic: boolean, { signal, network }: HttpConditions) {
  const host = hostAddress(url);
  if (mustBePublic && host !== undefined && network.isPrivate(host)) throw refusedAddress();
  const options: ClientRequestArgs = {
    headers: { 'user-agent': 'jobmirror', ...headers },
    agent: false,
    lookup: mustBePublic ? guardLookup(network, refusedAddress) : network.lookup,
    signal,
  };
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  return await new Promise<Exchange>((resolve, reject) => {
    const request = url.protocol === 'https:' ? requestHttps(bare, options) : requestHttp(bare, options);
    let exchange: Exchange | undefined;
    request.on('response', (response) => {
      exchange = { response };
      resolve(exchange);
    });
    request.on('error', (error) => {
      if (exchange === undefined) reject(error);
      else exchange.failure = error;
    });
    request.end();
  });
}

const refusedAddress = (): BrokenOff =>
  new BrokenOff('it redirects to an address that is not public; to allow this, set allow_private_redirects');

function checkResponse(
  url: URL,
  exchange: Exchange,
  asked: HttpVersion | undefined,
  signal: AbortSignal,
): OpenedSource {
  const { response } = exchange;
  const { statusCode = 0, headers } = response;
  const refuse = (message: string): OpenedSource => {
    response.destroy();
    return failed(message);
  };
  if (statusCode === 304) {
    response.destroy();
    if (asked !== undefined) return { kind: 'not_modified' };
    return failed(`${shown(url)} answered 304 Not Modified to an unconditional request`);
  }
  if (statusCode !== 200)
    return refuse(
      `${shown(url)} answered ${statusCode} ${STATUS_CODES[statusCode] ?? ''}`.trimEnd() + hint(statusCode),
    );
  // Gzip is detected by its first bytes; other encodings were not requested.
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (!['', 'identity', 'gzip', 'x-gzip'].includes(encoding)) {
    return refuse(`${shown(url)} sent the content encoding "${encoding}", although only gzip was requested`);
  }
  const length = Number(headers['content-length'] ?? Number.NaN);
  return {
    kind: 'body',
    body: {
      chunks: readBody(exchange, signal),
      charset: /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headers['content-type'] ?? '')?.[1],
      version: versionOf(url, headers),
      totalBytes: Number.isSafeInteger(length) ? length : undefined,
    },
  };
}

/** A body ends properly after Content-Length bytes, with the last chunk, or, without either, by an orderly close. */
async function* readBody(exchange: Exchange, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of exchange.response) yield chunk;
    if (exchange.failure !== undefined) throw exchange.failure;
    if (!exchange.response.complete) throw new Error('the body is incomplete');
  } catch (error) {
    signal.throwIfAborted();
    throw new BrokenOff(`the connection broke off before the end: ${reasonOf(error)}`);
  }
}

function hint(status: number): string {
  if (status === 401 || status === 403) return '; check the credentials in its headers';
  if (status === 404 || status === 410) return '; check its address';
  if (status === 429 || status >= 500) return '; it may work again later';
  return '';
}

const failed = (message: string): OpenedSource => ({ kind: 'failed', message });

/** A URL for messages, without credentials and without the query, which often contains a key. */
const shown = (url: URL): string => `${url.origin}${url.pathname}${url.search === '' ? '' : '?…'}`;
