// Builds where a feed comes from: the kind of source, which its written form shows, and what that kind needs.
import { basename, dirname, resolve } from 'node:path';
import type { FeedSource } from '../../feed/feed-reading.ts';
import type { TableLayout } from '../../feed/format/format.ts';
import { formatKind } from '../../feed/format/format-kinds.ts';
import {
  type Paging,
  publicAddress,
  type SingleConfig,
  type SourceConfig,
  UPLOADED_FILE,
} from '../../feed/source/sources.ts';
import type { ProxySettings } from '../../flow/proxy.ts';
import { type Environment, fillText } from '../environment.ts';
import type { AbsentSecret } from '../read-secret.ts';
import { Secret } from '../read-secret.ts';
import { type WrittenFeed, writtenSources } from '../schema/feed-schema.ts';
import type { WrittenFormat } from '../schema/format-schema.ts';
import type { WrittenPages } from '../schema/pages-schema.ts';
import { hasHttp, isWebAddress, schemeSourceOf } from '../scheme-sources.ts';
import type { FeedCredentials } from './credentials.ts';
import { makeDetails } from './details-config.ts';

export interface SourceParts {
  /** Name of the feed. */
  readonly name: string;
  readonly feed: WrittenFeed;
  readonly format: WrittenFormat;
  readonly credentials: FeedCredentials | undefined;
  /** `undefined`: the source is reached directly. */
  readonly proxy?: ProxySettings | undefined;
  readonly env: Environment;
  /** By the path within the feed. */
  readonly absent: AbsentSecret;
  /** The variables that the settings name, with their values. */
  readonly used?: ReadonlyMap<string, string>;
  /** Folder of the configuration file. */
  readonly folder: string;
}

export function makeSource(parts: SourceParts): FeedSource {
  const { feed, format } = parts;
  const from = makeSourceConfig(parts);
  const details = makeDetails(feed, format);
  return {
    from,
    format: format.type,
    recordPath: format.records ?? '',
    encoding: feed.encoding ?? format.encoding,
    lenient: feed.lenient,
    ...tableLayoutOf(parts),
    ...pageRulesOf(parts),
    ...(details === undefined ? {} : { details }),
    // A page states the total of all pages, which the source compares itself.
    totalPaths: pagesOf(feed, format) === undefined ? format.total : [],
    ...(feed.expect.cap === 'none' ? { listsAll: true } : {}),
    ...(feed.expect.empty_sources ? { acceptsEmptySources: true } : {}),
    limits: {
      maxBytes: feed.limits.max_bytes,
      maxRecordBytes: feed.limits.max_record_bytes,
      maxRatio: feed.limits.max_ratio,
      totalTimeoutMs: feed.limits.total_timeout_seconds * 1000,
      firstByteTimeoutMs: feed.limits.first_byte_timeout_seconds * 1000,
      minBytesPerSecond: feed.limits.min_bytes_per_second,
    },
  };
}

/** Only tables have a layout. */
function tableLayoutOf({ feed, format }: Pick<SourceParts, 'feed' | 'format'>): { table?: TableLayout } {
  if (format.type !== 'csv') return {};
  const {
    delimiter,
    columns,
    skip_rows: skipRows = 0,
    allow_missing_cells: allowMissingCells = false,
  } = format.csv ?? {};
  return { table: { delimiter, columns, skipRows, allowMissingCells, keyPaths: feed.key ?? format.key } };
}

/** Only web pages have these rules. */
const pageRulesOf = ({
  feed,
  format,
}: Pick<SourceParts, 'feed' | 'format'>): Pick<FeedSource, 'script' | 'acceptsEmptyPages'> => ({
  ...(format.script === undefined ? {} : { script: format.script }),
  ...(format.type === 'json-ld' && feed.expect.empty_pages ? { acceptsEmptyPages: true } : {}),
});

/** How the web sources of a feed send their postings in pages; `undefined` if they do not. */
export const pagesOf = (feed: WrittenFeed, format: WrittenFormat): WrittenPages | undefined =>
  writtenSources(feed).some(isWebAddress) ? (feed.pages ?? format.pages) : undefined;

function makeSourceConfig(parts: SourceParts): SourceConfig {
  const members = writtenSources(parts.feed).map((written) => makeSingleConfig(written, parts));
  const [only] = members;
  if (only !== undefined && parts.feed.sources === undefined) return only;
  const { limits } = parts.feed;
  return {
    kind: 'several',
    members,
    limits: {
      firstByteTimeoutMs: limits.first_byte_timeout_seconds * 1000,
      minBytesPerSecond: limits.min_bytes_per_second,
      requestsPerSecond: limits.requests_per_second,
    },
  };
}

/** The written form of a source shows its kind. */
export function makeSingleConfig(written: string, parts: SourceParts): SingleConfig {
  const { feed, format, credentials, proxy, env, used, folder, absent } = parts;
  if (written === '-') return { kind: 'stdin' };
  if (written === UPLOADED_FILE) return { kind: 'upload', feed: parts.name };
  const own = schemeSourceOf(written);
  if (own !== undefined) {
    // Without an opener, a complaint was made, and the feed is not used.
    const opened = credentials?.openers.get(own.scheme)?.(written, feed.files) ?? { kind: 'file', path: written };
    return opened.kind === 's3' ? { ...opened, proxy } : opened;
  }
  if (!isWebAddress(written)) return makeFileConfig(resolve(folder, written), feed);
  const headers = Object.entries(feed.headers).map(([name, text]) => [
    name,
    absent(['headers', name]) ?? new Secret(fillText(text, env)),
  ]);
  const http = {
    kind: 'http',
    url: written,
    publicAddress: publicAddress(written, used?.values()),
    headers: Object.fromEntries(headers),
    credentials: feed.credentials !== undefined && hasHttp(feed.credentials) ? credentials?.http : undefined,
    proxy,
    accept: formatKind(format.type).accept,
    maxRedirects: feed.limits.max_redirects,
    allowPrivateRedirects: feed.allow_private_redirects,
  } as const;
  const pages = pagesOf(feed, format);
  if (pages !== undefined) return makePagesConfig(http, pages, parts);
  const { attempts, max_wait_seconds: maxWaitSeconds } = feed.limits;
  return { ...http, retry: { attempts, firstDelayMs: 1_000, maxDelayMs: maxWaitSeconds * 1000 } };
}

function makeFileConfig(path: string, { files }: WrittenFeed): SingleConfig {
  if (files === undefined) return { kind: 'file', path };
  const hasPattern = /[*?]/.test(basename(path));
  return {
    kind: 'files',
    folder: hasPattern ? dirname(path) : path,
    pattern: hasPattern ? basename(path) : '*',
    pick: files,
  };
}

function makePagesConfig(
  http: Extract<SingleConfig, { kind: 'http' }>,
  pages: WrittenPages,
  { feed, format }: SourceParts,
): SingleConfig {
  const { limits } = feed;
  return {
    kind: 'pages',
    http,
    paging: makePaging(pages, feed.expect.cap),
    content: {
      format: format.type,
      recordPath: format.records ?? '',
      encoding: feed.encoding ?? format.encoding,
      totalPaths: format.total,
      maxRecordBytes: limits.max_record_bytes,
      lenient: feed.lenient,
      ...tableLayoutOf({ feed, format }),
      ...pageRulesOf({ feed, format }),
    },
    limits: {
      maxPages: pages.max_pages,
      maxPageBytes: pages.max_page_bytes,
      requestsPerSecond: limits.requests_per_second,
      firstByteTimeoutMs: limits.first_byte_timeout_seconds * 1000,
      minBytesPerSecond: limits.min_bytes_per_second,
    },
    retry: { attempts: limits.attempts, firstDelayMs: 1_000, maxDelayMs: limits.max_wait_seconds * 1000 },
  };
}

function makePaging(pages: WrittenPages, expectedCap: WrittenPages['cap']): Paging {
  const { by, path = '', parameter = by, size, size_parameter: sizeParameter, more, end, total, body, only } = pages;
  const cap = expectedCap ?? pages.cap;
  return {
    by,
    path,
    parameter,
    first: pages.first ?? (by === 'page' ? 1 : 0),
    size: size === undefined ? undefined : { value: size, parameter: sizeParameter },
    more,
    end,
    total,
    body,
    ...(cap === undefined ? {} : { cap }),
    ...(only === undefined ? {} : { only }),
  };
}
