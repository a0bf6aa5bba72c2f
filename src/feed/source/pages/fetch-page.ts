// Fetches one page as a whole: within the rate limit, and again after failures that pass.
import type { RateLimiter } from '../../../flow/rate-limiter.ts';
import { type RetryPolicy, retry } from '../../../flow/retry.ts';
import { SOURCE_RATE_WINDOW_MS, startPace } from '../../decode/pace.ts';
import type { HttpConfig } from '../http/http-config.ts';
import { requestResource } from '../http/request-resource.ts';
import {
  answerRefusal,
  type DescribedBody,
  describeBody,
  type HttpConditions,
  readBody,
  retryOptionsOf,
  TransientFailure,
} from '../http/response.ts';
import { FeedReadingError } from '../source.ts';
import { type FetchLimits, type Paging, pageTooLarge } from './pages-config.ts';

/** A page whose body has arrived to its proven end. */
export interface FetchedPage {
  /** After redirects. */
  readonly url: URL;
  /** The Link header. */
  readonly link: string;
  readonly bytes: Buffer;
  readonly described: DescribedBody;
}

/** What every page of a source is requested with. */
interface FetchConfig {
  readonly http: HttpConfig;
  readonly limits: FetchLimits;
  readonly retry: RetryPolicy;
  /** What to do if there is nothing at the address, for people. */
  readonly ifMissing?: string;
}

interface FetchContext extends HttpConditions {
  readonly limiter: RateLimiter;
}

/** Throws {@link FeedReadingError} if all tries failed, and the reason of the signal. */
export async function fetchPage(
  config: FetchConfig,
  request: PageRequest,
  context: FetchContext,
): Promise<FetchedPage> {
  const { signal, limiter } = context;
  const attempt = async (): Promise<FetchedPage> => {
    await limiter.take(signal);
    signal.throwIfAborted();
    return fetchOnce(config, request, context);
  };
  return retry(attempt, config.retry, retryOptionsOf(config.retry, signal));
}

async function fetchOnce(
  { http, limits, ifMissing }: FetchConfig,
  { url, body }: PageRequest,
  { signal, network }: FetchContext,
): Promise<FetchedPage> {
  const pace = startPace(
    { ...limits, totalTimeoutMs: Number.POSITIVE_INFINITY, rateWindowMs: SOURCE_RATE_WINDOW_MS },
    signal,
  );
  try {
    const method = body === undefined ? 'GET' : 'POST';
    const answer = await requestResource(http, { url, method, body }, { signal: pace.signal, network });
    if (answer.kind === 'failed') {
      throw answer.isPassing ? new TransientFailure(answer.message) : new FeedReadingError(answer.message);
    }
    const { exchange } = answer;
    const refusal = answerRefusal(answer.url, exchange, ifMissing);
    if (refusal !== undefined) {
      exchange.response.destroy();
      throw refusal;
    }
    const bytes = await readWhole(
      pace.watch(readBody(exchange, pace.signal), (chunk) => chunk.length),
      limits,
    );
    const link = [exchange.response.headers.link ?? []].flat().join(', ');
    const described = { ...describeBody(exchange), totalBytes: bytes.length };
    return { url: answer.url, link, bytes, described };
  } catch (error) {
    signal.throwIfAborted();
    // The page took too long: the reason of its own signal.
    throw error === pace.signal.reason && error instanceof FeedReadingError
      ? new TransientFailure(error.message)
      : error;
  } finally {
    pace.stop();
  }
}

async function readWhole(body: AsyncIterable<Buffer>, limits: FetchLimits): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > limits.maxPageBytes) break;
      chunks.push(chunk);
    }
  } catch (error) {
    // No record of the page was handed over yet.
    throw error instanceof FeedReadingError ? new TransientFailure(error.message) : error;
  }
  if (bytes > limits.maxPageBytes) throw new FeedReadingError(pageTooLarge(limits));
  return Buffer.concat(chunks);
}

// Makes the request of one page: parameters in the query, or a JSON body with placeholders.

export interface PageRequest {
  readonly url: URL;
  /** JSON, sent with POST. */
  readonly body?: string;
}

/** Where a page is: what its request carries. */
export type PagePosition =
  | { readonly kind: 'first' }
  | { readonly kind: 'address'; readonly url: URL }
  | { readonly kind: 'page' | 'offset'; readonly number: number }
  | { readonly kind: 'cursor'; readonly cursor: string };

export function pageRequest(start: URL, paging: Paging, position: PagePosition): PageRequest {
  const values = placeholdersOf(paging, position);
  const body = paging.body === undefined ? undefined : JSON.stringify(filled(paging.body, values));
  if (position.kind === 'address') return { url: position.url, body };
  const { by, parameter, size } = paging;
  let url = start;
  if (size?.parameter !== undefined) url = withParameter(url, size.parameter, `${size.value}`);
  const value = values[by];
  if (value !== undefined && !isInBody(paging.body, by)) url = withParameter(url, parameter, `${value}`);
  return { url, body };
}

type Placeholders = Readonly<Partial<Record<string, string | number>>>;

function placeholdersOf({ by, first, size }: Paging, position: PagePosition): Placeholders {
  const values = { size: size?.value };
  switch (position.kind) {
    case 'first':
      return by === 'page' || by === 'offset' ? { ...values, [by]: first } : values;
    case 'address':
      return values;
    case 'page':
    case 'offset':
      return { ...values, [position.kind]: position.number };
    case 'cursor':
      return { ...values, cursor: position.cursor };
    default:
      return position satisfies never;
  }
}

const PLACEHOLDER = /\{(page|offset|cursor|size)\}/g;

/** A text that is only a placeholder becomes its value; a member without a value, such as the first cursor, is left out. */
function filled(template: unknown, values: Placeholders): unknown {
  if (typeof template === 'string') {
    const [whole, name = ''] = /^\{(page|offset|cursor|size)\}$/.exec(template) ?? [];
    if (whole !== undefined) return values[name];
    return template.replace(PLACEHOLDER, (_, inner: string) => `${values[inner] ?? ''}`);
  }
  if (Array.isArray(template)) return template.map((each) => filled(each, values));
  if (typeof template !== 'object' || template === null) return template;
  return Object.fromEntries(Object.entries(template).map(([name, each]) => [name, filled(each, values)]));
}

const isInBody = (body: unknown, name: string): boolean =>
  body !== undefined && JSON.stringify(body).includes(`{${name}}`);

/** `finder:offset`: the parameter `offset` inside the text of `finder`, as in `finder=findReqs;siteNumber=CX_1,offset=25`. */
const INNER = /^([^:]+):([^:]+)$/;

/** The parameter that must be in the query, because another one stands inside its text; `undefined` for any other name. */
export const outerParameter = (name: string, query: URLSearchParams): string | undefined =>
  query.has(name) ? undefined : INNER.exec(name)?.[1];

/** Sets one parameter of the query and leaves the others as they are written. */
function withParameter(url: URL, name: string, value: string): URL {
  const outer = outerParameter(name, url.searchParams);
  if (outer !== undefined) return withInner(url, outer, INNER.exec(name)?.[2] ?? '', value);
  const changed = new URL(url);
  if (url.searchParams.has(name)) {
    changed.searchParams.set(name, value);
  } else {
    changed.search += `${url.search === '' ? '' : '&'}${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  }
  return changed;
}

function withInner(url: URL, outer: string, name: string, value: string): URL {
  const changed = new URL(url);
  const parts = url.search.slice(1).split('&');
  const at = parts.findIndex((part) => decoded(part.split('=', 1)[0] ?? '') === outer);
  const written = parts[at] ?? `${encodeURIComponent(outer)}=`;
  const start = written.indexOf('=') + 1;
  const text = decoded(written.slice(start));
  const own = new RegExp(`(^|[;,])${escapedForPattern(name)}=[^;,]*`);
  const set = own.test(text)
    ? text.replace(own, (_, before: string) => `${before}${name}=${value}`)
    : `${text}${text === '' ? '' : /[;=]/.test(text) ? ',' : ';'}${name}=${value}`;
  // Servers that read such texts may expect their separators as they are.
  const escaped = encodeURIComponent(set).replace(/%(?:3B|2C|3D)/g, decodeURIComponent);
  parts.splice(at < 0 ? parts.length : at, 1, written.slice(0, start) + escaped);
  changed.search = parts.join('&');
  return changed;
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
};

const escapedForPattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
