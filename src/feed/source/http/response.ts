// Reads the head of a response: whether its body may be a feed, what it says about the body, and whether a failure may
// pass when the request is repeated.
import { hash } from 'node:crypto';
import {
  type ClientRequestArgs,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
  STATUS_CODES,
} from 'node:http';
import { request as requestHttps } from 'node:https';
import { agentFor, type ProxySettings, routeTo } from '../../../flow/proxy.ts';
import { backoffMs, type RetryOptions, type RetryPolicy, readRetryAfter } from '../../../flow/retry.ts';
import type { AnswerMark } from '../../../plan/source-faults.ts';
import { FeedReadingError, type ListTotal, type Network, reasonOf, type SourceDocument } from '../source.ts';
import { addressForMessages, type TlsFiles } from './http-config.ts';
import { guardLookup, hostAddress, refusedPlace, refusePrivateName } from './redirects.ts';

/** Why a response is no feed; `undefined` if it may be one. @param ifMissing what to do if there is nothing at the address. */
export function responseRefusal(
  url: URL,
  { response, forwardedBy }: HttpExchange,
  ifMissing?: string,
): string | undefined {
  const { statusCode = 0, headers } = response;
  if (statusCode !== 200)
    return (
      `${addressForMessages(url)} answered ${statusCode} ${STATUS_CODES[statusCode] ?? ''}`.trimEnd() +
      (forwardedBy === undefined ? '' : `, through ${forwardedBy}`) +
      hint(statusCode, ifMissing)
    );
  // Gzip is detected by its first bytes; other encodings were not requested.
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (['', 'identity', 'gzip', 'x-gzip'].includes(encoding)) return undefined;
  return `${addressForMessages(url)} sent the content encoding "${encoding}", although only gzip was requested`;
}

/** What the headers of a response say about its body. */
export type DescribedBody = Pick<
  SourceDocument,
  'charset' | 'isEndProven' | 'relayed' | 'mark' | 'totalBytes' | 'sentAt' | 'madeAt' | 'isCached' | 'listTotal'
>;

export function describeBody({ response: { headers } }: HttpExchange): DescribedBody {
  const length = Number(headers['content-length'] ?? Number.NaN);
  const date = Date.parse(headers.date ?? '');
  // A cache keeps the date of the origin, and says how long ago it was (RFC 9111, 5.1).
  const age = ageOf(headers);
  const ageMs = (age ?? 0) * 1000;
  const modified = Date.parse(headers['last-modified'] ?? '');
  const relayed = relayedBy(headers);
  return {
    charset: /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headers['content-type'] ?? '')?.[1],
    isEndProven: Number.isSafeInteger(length) || /\bchunked$/i.test(headers['transfer-encoding'] ?? ''),
    ...(relayed === undefined ? {} : { relayed, mark: markOf(headers) }),
    totalBytes: Number.isSafeInteger(length) ? length : undefined,
    sentAt: Number.isNaN(date) ? undefined : date + ageMs,
    madeAt: Number.isNaN(modified) ? (age === undefined ? undefined : Date.now() - ageMs) : modified,
    isCached: isCached(headers),
    listTotal: listTotalOf(headers),
  };
}

/** Of WordPress, json-server, FastAPI Pagination, Yii and the gem api-pagination, among others. */
const TOTAL_HEADER = /^(?:x-)?(?:wp-|pagination-)?total(?:-(?:count|records|results|items|elements))?$/;
/** Of PostgREST and Dojo: "0-24/3573", "items 0-24/3573". */
const RANGE_OF_TOTAL = /^(?!bytes)\w*\s*\d+-\d+\/(\d+)$/i;
/** Of examples of ASP.NET, as JSON. */
const JSON_TOTAL = /"total(?:_?(?:count|records|items))?"\s*:\s*(\d+)/i;

/** The most that a header states. */
function listTotalOf(headers: IncomingHttpHeaders): ListTotal | undefined {
  const totals = Object.entries(headers).flatMap(([header, value = '']): ListTotal[] => {
    const text = [value].flat().join(', ').trim();
    const total =
      header === 'content-range'
        ? RANGE_OF_TOTAL.exec(text)?.[1]
        : header === 'x-pagination'
          ? JSON_TOTAL.exec(text)?.[1]
          : TOTAL_HEADER.test(header) && /^\d+$/.test(text)
            ? text
            : undefined;
    return total === undefined ? [] : [{ header, records: Number(total) }];
  });
  return totals.sort((a, b) => b.records - a.records)[0];
}

/** Headers of caches, which state the length of what they have. */
const CACHE_HEADERS = [
  'age',
  'via',
  'x-cache',
  'x-cache-status',
  'x-cache-hits',
  'x-varnish',
  'x-proxy-cache',
  'cf-cache-status',
];

/**
 * Only a length that the source itself has announced comes through all proxies: the last chunk, an orderly close and the gzip trailer
 * of a content encoding may be those of a proxy that got half of the document, and so may the length of a compressed or cached one.
 */
function relayedBy(headers: IncomingHttpHeaders): SourceDocument['relayed'] {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding !== '' && encoding !== 'identity') return 'encoded';
  const isAnnounced = /^\d+$/.test(headers['content-length'] ?? '');
  return isAnnounced && !countsItself(headers) && !isCached(headers) ? undefined : 'plain';
}

const isCached = (headers: IncomingHttpHeaders): boolean => CACHE_HEADERS.some((name) => headers[name] !== undefined);

/**
 * Servers that collect what an application or another server sends, and state the length of whatever they have when it ends: lighttpd
 * 1.4.69 of all answers, also of those that the other side broke off; Apache 2.4 of those that end at once, such as the output of a
 * program that was killed. Apache's files, and the lengths that others state for theirs, come with Accept-Ranges.
 */
const countsItself = ({ server, 'accept-ranges': ranges }: IncomingHttpHeaders): boolean =>
  /^lighttpd\b/i.test(String(server)) || (/^apache\b/i.test(String(server)) && ranges === undefined);

const ageOf = ({ age = '' }: IncomingHttpHeaders): number | undefined => {
  const [, seconds] = /^\s*(\d{1,9})\s*$/.exec(age) ?? [];
  return seconds === undefined ? undefined : Number(seconds);
};

/** As digests: what a source sends may repeat a credential. */
function markOf(headers: IncomingHttpHeaders): AnswerMark {
  const { etag, 'last-modified': lastModified } = headers;
  const age = ageOf(headers);
  return {
    // Compression on the way changes an ETag in these ways.
    ...(etag === undefined ? {} : { etag: digest(etag.replace(/^W\//, '').replace(/(?:-|;)(?:gzip|gz|br)"$/, '"')) }),
    ...(lastModified === undefined ? {} : { lastModified: digest(lastModified) }),
    ...(age === undefined ? {} : { age }),
  };
}

const digest = (text: string): string => hash('sha256', text, 'hex').slice(0, 32);

function hint(status: number, ifMissing = 'check its address'): string {
  if (status === 204) return '; an empty list counts as one only in a document';
  if (status === 206)
    return '; it sends a part of the list, and no setting asks for the others: ask for an address with all of it';
  if (status === 401 || status === 403) return '; check the credentials or headers of the feed';
  if (status === 404 || status === 410) return `; ${ifMissing}`;
  if (status === 429 || status >= 500) return '; it may work again later';
  return '';
}

/** A failure that another try may not have. */
export class TransientFailure extends FeedReadingError {
  readonly retryAfterMs: number;
  constructor(message: string, retryAfterMs = 0) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** There is nothing at the address. */
export class ResourceMissing extends FeedReadingError {}

/** How requests are repeated: as the policy says, unless the source asks for a longer wait. */
export const retryOptionsOf = (
  policy: RetryPolicy,
  signal: AbortSignal,
): Required<Pick<RetryOptions, 'signal' | 'worthAgain' | 'delayMs'>> => ({
  signal,
  worthAgain: (error) => error instanceof TransientFailure && error.retryAfterMs <= policy.maxDelayMs,
  delayMs: (tried, error) =>
    Math.max(backoffMs(policy, tried, Math.random()), error instanceof TransientFailure ? error.retryAfterMs : 0),
});

/** Why a response is refused; `undefined` if it may be a feed. @param ifMissing what to do if there is nothing, for people. */
export function answerRefusal(url: URL, exchange: HttpExchange, ifMissing?: string): FeedReadingError | undefined {
  const message = responseRefusal(url, exchange, ifMissing);
  if (message === undefined) return undefined;
  const { statusCode = 0, headers } = exchange.response;
  if (statusCode === 404 || statusCode === 410) return new ResourceMissing(message);
  if (statusCode !== 429 && statusCode < 500) return new FeedReadingError(message);
  const retryAfterMs = readRetryAfter(headers['retry-after'], headers.date, Date.now());
  const wait = retryAfterMs === undefined ? '' : `; it asks to wait ${Math.ceil(retryAfterMs / 1000)} s`;
  return new TransientFailure(message + wait, retryAfterMs);
}

// Sends one HTTP request, and reads the body of its response to the proven end.

export type Headers = Record<string, string>;

export interface HttpRequest {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Headers;
  readonly body?: string;
  readonly tls?: TlsFiles;
  /** Refuses private addresses. */
  readonly mustBePublic?: boolean;
}

export interface HttpExchange {
  readonly response: IncomingMessage;
  /** The IP address of the server. The socket no longer knows it once the server has closed the connection, and a proxy hides it. */
  readonly connectedTo: string | undefined;
  /** The proxy that passed the request on, or answered it. */
  readonly forwardedBy: string | undefined;
  /** A connection failure after the response head. The body may look complete despite it. */
  failure?: Error;
}

export interface HttpConditions {
  readonly signal: AbortSignal;
  readonly network: Network;
  /** Absent: directly. */
  readonly proxy?: ProxySettings | undefined;
}

/**
 * Sends one request on a new connection; resolves with the response head. It uses Node's own client, which distinguishes a
 * reset connection from a closed one: undici takes both for the regular end of a body without a length.
 */
export async function send(request: HttpRequest, { signal, network, proxy }: HttpConditions): Promise<HttpExchange> {
  const { url, method, headers, body, tls, mustBePublic = false } = request;
  const host = hostAddress(url);
  const refusal = network.publicOnly === true ? refusedPlace : refusedAddress;
  const isGuarded = mustBePublic || network.publicOnly === true;
  if (isGuarded && host !== undefined && network.isPrivate(host)) throw refusal();
  const route = routeTo(url, proxy);
  // The proxy resolves the name, so only an address that this machine knows for it can be checked.
  if (route !== undefined && isGuarded && host === undefined) await refusePrivateName(url.hostname, network, refusal);
  const ofProxy = network.publicOnly === true && proxy?.isOfFeed ? guardLookup(network, refusal) : undefined;
  const options: ClientRequestArgs = {
    method,
    path: route?.target(url) ?? url.pathname + url.search,
    headers: {
      'user-agent': 'jobmirror',
      ...headers,
      ...route?.headers,
      ...(body === undefined ? {} : { 'content-length': `${Buffer.byteLength(body)}` }),
    },
    agent: agentFor(url, route, {}, () => signal, ofProxy),
    lookup: isGuarded ? guardLookup(network, refusal) : network.lookup,
    signal,
  };
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  return await new Promise<HttpExchange>((resolve, reject) => {
    const sent =
      url.protocol === 'https:' ? requestHttps(bare, { ...options, ...tlsOptions(tls) }) : requestHttp(bare, options);
    let exchange: HttpExchange | undefined;
    sent.on('response', (response) => {
      const refused = route?.refusalOf(response.statusCode ?? 0, response.headers);
      if (refused !== undefined) {
        reject(refused);
        return void sent.destroy();
      }
      exchange = {
        response,
        connectedTo: route === undefined ? response.socket.remoteAddress : host,
        forwardedBy: route?.isForwarded === true ? route.name : undefined,
      };
      resolve(exchange);
    });
    sent.on('error', (error) => {
      if (exchange === undefined) reject(error);
      else exchange.failure = error;
    });
    sent.end(body);
  });
}

const tlsOptions = ({ cert, key, passphrase, ca }: TlsFiles = {}) => ({
  cert,
  key: key?.reveal(),
  passphrase: passphrase?.reveal(),
  ca,
});

const refusedAddress = (): FeedReadingError =>
  new FeedReadingError('it redirects to an address that is not public; to allow this, set allow_private_redirects');

/** A body ends properly after Content-Length bytes, with the last chunk, or, without either, by an orderly close. */
export async function* readBody(exchange: HttpExchange, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of exchange.response) yield chunk;
    if (exchange.failure !== undefined) throw exchange.failure;
    if (!exchange.response.complete) throw new Error('the body is incomplete');
  } catch (error) {
    signal.throwIfAborted();
    throw new FeedReadingError(`the connection broke off before the end: ${reasonOf(error)}`);
  }
}
