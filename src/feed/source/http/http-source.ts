// Reads an http or https URL as a source: safe redirects, conditional requests, and proof that the body is whole.
import { type ClientRequestArgs, type IncomingMessage, request as requestHttp, STATUS_CODES } from 'node:http';
import { request as requestHttps } from 'node:https';
import {
  BrokenOff,
  type Network,
  type OpenedSource,
  oneDocument,
  reasonOf,
  type SourceContext,
  type SourceKind,
} from '../source.ts';
import { askedVersion, conditionalHeaders, type HttpVersion, versionOf } from './http-version.ts';
import { guardLookup, hostAddress, systemNetwork } from './redirect-guard.ts';

export interface HttpConfig {
  readonly kind: 'http';
  /** Valid; its user, password and query may be secret. */
  readonly url: string;
  /** Extra request headers, such as an authorization; their values are secret. */
  readonly headers: Readonly<Record<string, { reveal(): string }>>;
  /** Media types for the `Accept` header. */
  readonly accept: string;
  readonly maxRedirects: number;
  /** Allow redirects to private and loopback addresses. */
  readonly allowPrivateRedirects: boolean;
}

export const httpSource: SourceKind<HttpConfig> = {
  isRemote: true,
  isRepeatable: true,
  open: (config, context) => openHttp(config, { ...context, network: context.network ?? systemNetwork }),
  request({ kind, url, accept, headers }) {
    const sent = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.reveal()]);
    return { kind, url, accept, headers: sent.sort(([a = ''], [b = '']) => (a < b ? -1 : 1)) };
  },
  placeOf: ({ url }) => (url.includes('?') ? `${url.slice(0, url.indexOf('?'))}?…` : url),
  secretsOf: ({ headers }) => Object.values(headers).map((header) => header.reveal()),
  publicConfig({ url, headers, ...settings }) {
    const { protocol, host, pathname, searchParams } = new URL(url);
    const place = `${protocol}//${host}${pathname}?${[...searchParams.keys()].join('&')}`;
    return { place, settings: { ...settings, headers: Object.keys(headers).sort() } };
  },
};

type Conditions = SourceContext & { readonly network: Network };

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Opens the URL. It uses Node's own client, which distinguishes a reset connection from a closed one: undici takes both
 * for the regular end of a body without a length.
 */
async function openHttp(config: HttpConfig, conditions: Conditions): Promise<OpenedSource> {
  let url = new URL(config.url);
  let secrets = secretHeaders(config, url);
  let startedPublic = true;
  for (let redirects = 0; ; redirects++) {
    const mustBePublic = redirects > 0 && startedPublic && !config.allowPrivateRedirects;
    const asked = askedVersion(conditions.version, url);
    let exchange: Exchange;
    try {
      const sent = { accept: config.accept, 'accept-encoding': 'gzip', ...secrets, ...conditionalHeaders(asked) };
      exchange = await send(url, sent, mustBePublic, conditions);
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
    if (redirects >= config.maxRedirects) {
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

function secretHeaders(config: HttpConfig, url: URL): Headers {
  const headers: Headers = {};
  if (url.username !== '' || url.password !== '') {
    const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    headers.authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  }
  for (const [name, value] of Object.entries(config.headers)) headers[name.toLowerCase()] = value.reveal();
  return headers;
}

/** Sends one GET on a new connection; resolves with the response head. */
async function send(url: URL, headers: Headers, mustBePublic: boolean, { signal, network }: Conditions) {
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
  const document = {
    name: shown(url),
    chunks: readBody(exchange, signal),
    charset: /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headers['content-type'] ?? '')?.[1],
    totalBytes: Number.isSafeInteger(length) ? length : undefined,
  };
  return oneDocument(document, versionOf(url, headers));
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
