// Builds where a feed comes from: the kind of source, which its written form shows, and what that kind needs.
import { resolve } from 'node:path';
import type { FeedSource } from '../feed/feed-reading.ts';
import type { TableLayout } from '../feed/format/format.ts';
import type { HttpCredentials, Paging, SourceConfig } from '../feed/source/sources.ts';
import { type Environment, fillText } from './environment.ts';
import type { WrittenFeed } from './schema/feed-schema.ts';
import type { WrittenFormat } from './schema/format-schema.ts';
import type { WrittenPages } from './schema/pages-schema.ts';
import { Secret } from './secret.ts';

export interface SourceParts {
  readonly feed: WrittenFeed;
  readonly format: WrittenFormat;
  readonly credentials: HttpCredentials | undefined;
  readonly env: Environment;
  /** Folder of the configuration file. */
  readonly folder: string;
}

export function makeSource(parts: SourceParts): FeedSource {
  const { feed, format } = parts;
  const from = makeSourceConfig(parts);
  return {
    from,
    format: format.type,
    recordPath: format.records ?? '',
    encoding: feed.encoding ?? format.encoding,
    lenient: feed.lenient,
    ...tableLayoutOf(parts),
    // A page states the total of all pages, which the source compares itself.
    totalPaths: from.kind === 'pages' ? [] : format.total,
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

/** What is asked of a source that offers several formats. */
const MEDIA_TYPES = {
  xml: 'application/xml, text/xml, */*;q=0.5',
  json: 'application/json, */*;q=0.5',
  jsonl: 'application/x-ndjson, application/jsonl, application/json;q=0.9, */*;q=0.5',
  csv: 'text/csv, text/tab-separated-values, */*;q=0.5',
} as const satisfies Record<WrittenFormat['type'], string>;

export const isWebAddress = (source: string): boolean => /^https?:\/\//i.test(source);

/** How the source sends its postings in pages; `undefined` if it does not. */
export const pagesOf = (feed: WrittenFeed, format: WrittenFormat): WrittenPages | undefined =>
  isWebAddress(feed.source) ? (feed.pages ?? format.pages) : undefined;

function makeSourceConfig({ feed, format, credentials, env, folder }: SourceParts): SourceConfig {
  if (feed.source === '-') return { kind: 'stdin' };
  if (!isWebAddress(feed.source)) return { kind: 'file', path: resolve(folder, feed.source) };
  const headers = Object.entries(feed.headers).map(([name, text]) => [name, new Secret(fillText(text, env))]);
  const http = {
    kind: 'http',
    url: feed.source,
    headers: Object.fromEntries(headers),
    credentials,
    accept: MEDIA_TYPES[format.type],
    maxRedirects: feed.limits.max_redirects,
    allowPrivateRedirects: feed.allow_private_redirects,
  } as const;
  const pages = pagesOf(feed, format);
  if (pages === undefined) return http;
  const { limits } = feed;
  return {
    kind: 'pages',
    http,
    paging: makePaging(pages),
    content: {
      format: format.type,
      recordPath: format.records ?? '',
      encoding: feed.encoding ?? format.encoding,
      totalPaths: format.total,
      maxRecordBytes: limits.max_record_bytes,
      lenient: feed.lenient,
      ...tableLayoutOf({ feed, format }),
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

function makePaging(pages: WrittenPages): Paging {
  const { by, path = '', parameter = by, size, size_parameter: sizeParameter, more, end, total, body } = pages;
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
  };
}
