// How the detail of a posting is requested and read: the configuration, and the request that is made of the texts of
// the record in the list.
import type { RetryPolicy } from '../../../flow/retry.ts';
import { MalformedPathError, parseValuePath, textsAt, type ValuePath } from '../../../posting/paths/value-path.ts';
import type { RecordTree } from '../../../posting/posting.ts';
import type { ScriptRule } from '../../format/format.ts';
import type { FormatName } from '../../format/format-kinds.ts';
import type { ReadingClock } from '../../reading-clock.ts';
import { FeedReadingError } from '../source.ts';
import type { PageRequest } from './fetch-page.ts';
import { sameOrigin } from './next-address.ts';
import type { FetchLimits } from './pages-config.ts';

/** Throws {@link FeedReadingError} for a record that lacks a text, or leads to another origin. */
type MakeDetailRequest = (record: RecordTree) => PageRequest;

/** What a placeholder stands for in one record. */
type Part = (record: RecordTree) => string;

const PLACEHOLDER = /\{(\+|source:)?([^{}]+)\}/g;

/** Throws `MalformedPathError` for an invalid path. @param source the address of the list. */
export function compileDetailRequest({ url, body }: DetailRequestTemplate, source: URL): MakeDetailRequest {
  const makeUrl = compileText(url, source, 'address');
  const makeBody = compileBody(body, source);
  return (record) => {
    const target = makeUrl(record);
    if (!URL.canParse(target, source.href)) throw new FeedReadingError('the address of its detail is not an address');
    return { url: sameOrigin(new URL(target, source), source, 'its detail is'), body: makeBody?.(record) };
  };
}

/** Whether an address depends on the path of the list's address, which only a single source has. */
export const isRelativeTemplate = (url: string): boolean =>
  !/^(?:https?:\/\/|\/|\{\+)/i.test(url) || url.includes('{source:');

/** The paths in the record that a request needs. */
export const pathsInTemplate = ({ url, body }: Pick<DetailRequestTemplate, 'url' | 'body'>): readonly string[] =>
  [url, ...textsIn(body)].flatMap((text) =>
    [...text.matchAll(PLACEHOLDER)].flatMap(([, sign, name = '']) => (sign === 'source:' ? [] : [name])),
  );

/** What the details are requested with besides their records: if it changes, so may all details. @param source the address of the list. */
export const detailRequestIdentity = ({ url, body }: Pick<DetailRequestTemplate, 'url' | 'body'>, source: URL) => [
  url,
  body ?? null,
  source.origin,
  source.pathname,
  ...[url, ...textsIn(body)].flatMap((text) =>
    [...text.matchAll(PLACEHOLDER)].flatMap(([, sign, name = '']) =>
      sign === 'source:' ? [sourceParameter(source, name) ?? ''] : [],
    ),
  ),
];

/** Finds the faults of a template without a record. */
export function templateFault(
  { url, body }: Pick<DetailRequestTemplate, 'url' | 'body'>,
  source: URL,
): string | undefined {
  const texts = [url, ...textsIn(body)];
  try {
    for (const text of texts) compileText(text, source, 'text');
  } catch (error) {
    if (error instanceof MalformedPathError || error instanceof FeedReadingError) return error.message;
    throw error;
  }
  const origin = /^https?:\/\/[^/?#{]+/i.exec(url)?.[0];
  if (origin === undefined) return undefined;
  if (!URL.canParse(origin)) return 'is not an address';
  return new URL(origin).origin === source.origin
    ? undefined
    : `is at another origin than the source, ${source.origin}, which alone gets the credentials; leave the host out`;
}

function compileText(template: string, source: URL, use: 'address' | 'text'): Part {
  const parts: Part[] = [];
  let at = 0;
  for (const match of template.matchAll(PLACEHOLDER)) {
    const [whole, sign, name = ''] = match;
    const before = template.slice(at, match.index);
    parts.push(() => before, compilePlaceholder(sign, name, source, use));
    at = match.index + whole.length;
  }
  const rest = template.slice(at);
  return (record) => parts.map((part) => part(record)).join('') + rest;
}

function compilePlaceholder(sign: string | undefined, name: string, source: URL, use: 'address' | 'text'): Part {
  const escaped = use === 'text' ? (text: string) => text : sign === '+' ? escapeReserved : encodeURIComponent;
  if (sign === 'source:') {
    const value = sourceParameter(source, name);
    if (value === undefined)
      throw new FeedReadingError(`needs the parameter ${name}, which the address of the source lacks`);
    return () => escaped(value);
  }
  const path = parseValuePath(name);
  return (record) => escaped(textOf(path, name, record));
}

function textOf(path: ValuePath, name: string, record: RecordTree): string {
  const text = textsAt(path, record)
    .map((each) => each.trim())
    .find((each) => each !== '');
  if (text === undefined)
    throw new FeedReadingError(`its record has no ${name}, which the request of its detail needs`);
  return text;
}

/** As the reserved expansion of RFC 6570, 3.2.3: what is already escaped stays so. */
const escapeReserved = (text: string): string =>
  text.toWellFormed().replace(/%(?![0-9a-f]{2})|[^\w.~!#$%&'()*+,/:;=?@[\]-]/giu, (each) => encodeURIComponent(each));

/** A parameter of the query, or one inside the text of another: `finder=findReqs;siteNumber=CX_1,limit=25`. */
function sourceParameter(source: URL, name: string): string | undefined {
  const own = source.searchParams.get(name);
  if (own !== null) return own;
  for (const text of source.searchParams.values()) {
    const inner = text.split(/[;,]/).find((part) => part.startsWith(`${name}=`));
    if (inner !== undefined) return inner.slice(name.length + 1);
  }
  return undefined;
}

function compileBody(body: unknown, source: URL): Part | undefined {
  if (body === undefined) return undefined;
  const make = compileValue(body, source);
  return (record) => JSON.stringify(make(record));
}

function compileValue(value: unknown, source: URL): (record: RecordTree) => unknown {
  if (typeof value === 'string') return compileText(value, source, 'text');
  if (Array.isArray(value)) {
    const parts = value.map((each) => compileValue(each, source));
    return (record) => parts.map((part) => part(record));
  }
  if (typeof value !== 'object' || value === null) return () => value;
  const parts = Object.entries(value).map(([name, each]) => [name, compileValue(each, source)] as const);
  return (record) => Object.fromEntries(parts.map(([name, part]) => [name, part(record)]));
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

// How the detail of a posting is requested and read, where the list of a feed does not have all of it.

export interface DetailsConfig {
  readonly request: DetailRequestTemplate;
  readonly document: DetailDocument;
  /** The name under which the mapping finds the detail in the record. */
  readonly name: string;
  /** The text at a path in the detail must be the one at a path in the record of the list. */
  readonly match: readonly { readonly detail: string; readonly record: string }[];
  /** Paths in the record of the list; a change there alone requests no detail. */
  readonly ignore: readonly string[];
  /** Paths in the record of the list; another order of what is there requests no detail. */
  readonly unordered?: readonly string[];
  /** How many are requested at a time. */
  readonly concurrency: number;
  /** A detail is requested again within this time, even if the list did not change; absent: never. */
  readonly refreshMs?: number;
  /** Of pages and details together. */
  readonly requestsPerSecond: number;
  readonly limits: FetchLimits;
  readonly retry: RetryPolicy;
  /** Of all requests of a pull together; those that are left wait for the next pull. */
  readonly totalTimeoutMs: number;
}

/** Placeholders: `{path}` is escaped, `{+path}` keeps what has a meaning in addresses, `{source:name}` is a parameter of the list's address. */
interface DetailRequestTemplate {
  /** Relative to the address of the list, at whose origin it must be. */
  readonly url: string;
  /** JSON that is sent with POST; absent: GET. */
  readonly body?: unknown;
  /** Media types for the `Accept` header. */
  readonly accept: string;
}

export interface DetailDocument {
  readonly format: FormatName;
  /** Path of the only record from the root; empty: the JSON document itself. */
  readonly recordPath: string;
  readonly encoding?: string;
  readonly lenient: boolean;
  /** For HTML: the script that holds the record. */
  readonly script?: ScriptRule;
  /** For JSON-LD: a page without a posting is no failure. */
  readonly acceptsEmptyPages?: boolean;
  /** The clock of the pull. */
  readonly clock?: ReadingClock;
}
