// Turns all that a feed is asked for with, and read by, into a digest: validators of another request mean nothing.
import { hash } from 'node:crypto';
import type { FeedSource } from '../feed-reading.ts';

/** What decides, besides the source, what a reading comes to. */
export interface ReadingRules {
  /** How records are read, by `interpretationOf`. */
  readonly interpretation: Buffer;
  /** With fewer records the feed is not taken for complete. */
  readonly minRecords: number | undefined;
}

/**
 * Hex digest over the address, all headers, what counts as a record and as complete. Where it is another one, "not
 * modified" would say that something else has not changed. Headers and addresses may hold secrets: only the digest is kept.
 */
export function requestDigest(source: FeedSource, { interpretation, minRecords }: ReadingRules): string {
  const { location, headers, recordPath, encoding, totalPaths, limits } = source;
  const sent = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.reveal()]);
  const { maxBytes, maxRecordBytes, maxRatio } = limits;
  return digestOf({
    location,
    headers: sent.sort(([a = ''], [b = '']) => (a < b ? -1 : 1)),
    records: [interpretation.toString('hex'), recordPath, encoding, totalPaths, minRecords],
    limits: [maxBytes, maxRecordBytes, maxRatio],
  });
}

/** Hex digest of the address that a response came from, which redirects may have led to. */
export function addressDigest(url: URL): string {
  return digestOf({ url: url.href });
}

const digestOf = (parts: Readonly<Record<string, unknown>>): string => hash('sha256', JSON.stringify(parts), 'hex');
