// Builds how the details of a feed's postings are requested, and finds what its other settings contradict.
import { formatKind } from '../../feed/format/format-kinds.ts';
import { type DetailsConfig, isRelativeTemplate, pathsInTemplate, templateFault } from '../../feed/source/sources.ts';
import type { FieldMapping } from '../../posting/field-mapping.ts';
import { readerOfPlacesIn } from '../../posting/paths/mapping-paths.ts';
import { covers, parseValuePath } from '../../posting/paths/value-path.ts';
import { hasPlaces } from '../../posting/places.ts';
import { type WrittenFeed, writtenSources } from '../schema/feed-schema.ts';
import type { WrittenFormat } from '../schema/format-schema.ts';
import type { WrittenDetails } from '../schema/pages-schema.ts';
import { isWebAddress } from '../scheme-sources.ts';

/** The details that are requested for web sources; `undefined` if there are none. */
const detailsOf = (feed: WrittenFeed, format: WrittenFormat): WrittenDetails | undefined =>
  writtenSources(feed).some(isWebAddress) ? (feed.details ?? format.details) : undefined;

const DAY_MS = 86_400_000;

export function makeDetails(feed: WrittenFeed, format: WrittenFormat): DetailsConfig | undefined {
  const details = detailsOf(feed, format);
  if (details === undefined) return undefined;
  const { limits } = feed;
  return {
    request: { url: details.url, body: details.body, accept: formatKind(details.format).accept },
    document: {
      format: details.format,
      recordPath: details.records ?? '',
      lenient: feed.lenient,
      ...(details.script === undefined ? {} : { script: details.script }),
      ...(details.empty_pages ? { acceptsEmptyPages: true } : {}),
    },
    name: details.name,
    match: Object.entries(details.match).map(([detail, record]) => ({ detail, record })),
    ignore: details.ignore,
    ...(feed.unordered === undefined ? {} : { unordered: feed.unordered }),
    concurrency: details.concurrency,
    refreshMs: details.refresh_days === undefined ? undefined : details.refresh_days * DAY_MS,
    requestsPerSecond: limits.requests_per_second,
    limits: {
      maxPageBytes: limits.max_record_bytes,
      sizeSetting: 'limits.max_record_bytes',
      firstByteTimeoutMs: limits.first_byte_timeout_seconds * 1000,
      minBytesPerSecond: limits.min_bytes_per_second,
    },
    retry: { attempts: limits.attempts, firstDelayMs: 1_000, maxDelayMs: limits.max_wait_seconds * 1000 },
    totalTimeoutMs: limits.total_timeout_seconds * 1000,
  };
}

interface Fault {
  /** Of the setting, within the feed. */
  readonly path: readonly string[];
  readonly message: string;
}

/** What is wrong with the details of a feed, and with which setting. */
export function faultOfDetails(feed: WrittenFeed, format: WrittenFormat): Fault | undefined {
  const sources = writtenSources(feed);
  if (feed.details && !sources.every(isWebAddress)) {
    return { path: ['details'], message: 'work only with http and https sources' };
  }
  const details = detailsOf(feed, format);
  const [first = ''] = sources;
  if (details === undefined || !URL.canParse(first)) return undefined;
  if (!sources.every(isWebAddress)) {
    return {
      path: ['details'],
      message: 'cannot be requested for files and web addresses in one feed; make two feeds',
    };
  }
  if (sources.length > 1 && isRelativeTemplate(details.url)) {
    return {
      path: ['details', 'url'],
      message:
        'is relative to one source, and the feed has several; begin it with / or {+path}, or make a feed of each',
    };
  }
  const servers = [...new Set(sources.filter((each) => URL.canParse(each)).map((each) => new URL(each).origin))];
  if (servers.length > 1) {
    return {
      path: ['details'],
      message: `would all be requested from ${servers[0]}, though some postings are those of ${servers.slice(1).join(', ')}; make a feed of each`,
    };
  }
  const fault = templateFault(details, new URL(first));
  if (fault !== undefined) return { path: ['details', 'url'], message: fault };
  const keys = feed.key ?? format.key;
  const key = keys.find((path) => path === details.name || path.startsWith(`${details.name}/`));
  if (key !== undefined) {
    return {
      path: ['key'],
      message: `${key} is in the detail, but the key must be in the list: it decides which details are requested`,
    };
  }
  return faultOfIgnored(details, keys) ?? faultOfEmptyPages(details, feed, format);
}

/**
 * Which postings a record stands for must not depend on its detail: the hash of the record in the list stands for all of them, so
 * with another detail it would lead to postings that are no longer there, and hide those that are.
 */
export function faultOfDetailedPlaces(details: DetailsConfig | undefined, mapping: FieldMapping): Fault | undefined {
  const reader = details && hasPlaces(mapping) ? readerOfPlacesIn(details.name, mapping) : undefined;
  if (reader === undefined) return undefined;
  const why = 'with use: each, the list alone must tell which postings a record stands for; use first or review';
  switch (reader.kind) {
    case 'places':
      return { path: ['places', 'path'], message: `${reader.path} may be in the detail, but ${why}` };
    case 'field':
      return {
        path: ['places', 'fields'],
        message: `${reader.field} is read from ${reader.path}, which may be in the detail, but ${why}`,
      };
    case 'expression':
      return {
        path: ['places', 'fields'],
        message: `${reader.field} is the result of an expression, which may read the detail, but ${why}`,
      };
  }
}

/** What tells postings and their details apart always counts. */
function faultOfIgnored({ ignore, url, body }: WrittenDetails, keys: readonly string[]): Fault | undefined {
  const needed = [...keys, ...pathsInTemplate({ url, body })];
  for (const ignored of ignore) {
    const path = needed.find((each) => covers(parseValuePath(ignored), parseValuePath(each)));
    if (path === undefined) continue;
    const use = keys.includes(path) ? 'which the key is made of' : 'which the request of the detail needs';
    return { path: ['details', 'ignore'], message: `${ignored} leaves out ${path}, ${use}; name another path` };
  }
  return undefined;
}

/** Pages without a posting have no texts for the fields, so records with them must be skipped. */
function faultOfEmptyPages(details: WrittenDetails, feed: WrittenFeed, format: WrittenFormat): Fault | undefined {
  const empty = `${details.name}/page/empty`;
  const skip = [...(format.skip ?? []), ...(feed.skip ?? [])];
  const isSkipped = skip.some((group) => group.length === 1 && group[0]?.path === empty);
  if (details.empty_pages && !isSkipped) {
    return {
      path: ['details', 'empty_pages'],
      message: `needs skip: { ${empty}: true }: a page without a posting has no texts for the fields`,
    };
  }
  if (details.format !== 'json-ld' || format.type === 'json-ld' || !feed.expect.empty_pages) return undefined;
  return {
    path: ['expect', 'empty_pages'],
    message: 'is for pages of the list; for the pages of postings, set empty_pages in details',
  };
}
