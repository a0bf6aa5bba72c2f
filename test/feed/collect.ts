// Collects the results of a reading and splits bytes into chunks, so tests can compare whole results.
import { expect } from 'vitest';
import type { RecordBatch } from '../../src/feed/batch/record-batch.ts';
import type { FeedLimits, FeedReading, FeedSource, RecordSink } from '../../src/feed/feed-reading.ts';
import type { SplitOptions, SplitSink } from '../../src/feed/format/format.ts';
import type { FormatName } from '../../src/feed/format/format-kinds.ts';
import { formatOf } from '../../src/feed/format/formats.ts';
import { type ReadingContext, readFeed } from '../../src/feed/read-feed.ts';
import type { HttpConfig } from '../../src/feed/source/http/http-config.ts';
import { HASH_BYTES, recordHash, xorHash } from '../../src/posting/hash.ts';

export interface Collected extends SplitSink, RecordSink {
  readonly records: string[];
  readonly oversizedRecords: { head: string; length: number }[];
}

export function collect(): Collected {
  const records: string[] = [];
  const oversizedRecords: { head: string; length: number }[] = [];
  const record = (buffer: Buffer, start: number, end: number, prefix?: Buffer) =>
    void records.push(`${prefix ?? ''}${buffer.toString('utf8', start, end)}`);
  const oversized = (head: Buffer, length: number) => void oversizedRecords.push({ head: head.toString(), length });
  const take = (batch: RecordBatch) => {
    for (let at = 0; at < batch.count; at++) {
      const [start, end, length] = [batch.startOf(at), batch.endOf(at), batch.oversizedLengthOf(at)];
      // The hash delivered with a record is that of its bytes.
      const hash = batch.hashes.subarray(batch.hashAt(at), batch.hashAt(at) + HASH_BYTES);
      const own = recordHash(batch.bytes.subarray(start, end));
      if (batch.prefix.length > 0) xorHash(own, 0, recordHash(batch.prefix));
      // Assert only on failure: an assertion for each of many records takes longer than everything else.
      if (!own.equals(hash)) expect(hash).toEqual(own);
      if (length === 0) record(batch.bytes, start, end, batch.prefix);
      else oversized(batch.bytes.subarray(start, end), length);
    }
  };
  return { records, oversizedRecords, record, oversized, take, drain: () => undefined };
}

/** Splits bytes into chunks of these sizes, repeatedly. */
export function cutInto(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0, index = 0; at < bytes.length; index++) {
    const size = Math.max(1, sizes[index % sizes.length] ?? bytes.length);
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

/** Splits an XML document in chunks of these sizes. */
export const split = (document: string | Buffer, options: Partial<SplitOptions> = {}, sizes?: readonly number[]) =>
  splitAs('xml', document, { recordPath: 'source/job', ...options }, sizes);

/** Splits a document in chunks of these sizes. Every chunk is overwritten after use, as a source may do. */
export function splitAs(
  format: FormatName,
  document: string | Buffer,
  options: Partial<SplitOptions> = {},
  sizes: readonly number[] = [1e9],
  isEndProven = true,
) {
  const sink = collect();
  const splitter = formatOf(format).createSplitter(
    { recordPath: '', totalPaths: [], maxRecordBytes: 1e6, ...options },
    sink,
  );
  for (const chunk of cutInto(Buffer.from(document), sizes)) {
    const reused = Buffer.from(chunk);
    splitter.push(reused);
    reused.fill('<');
  }
  const { shortfalls, declaredTotal } = splitter.finish(isEndProven);
  return {
    records: sink.records,
    oversized: sink.oversizedRecords,
    refusal: splitter.refusal,
    shortfalls,
    declaredTotal,
  };
}

export const generousLimits: FeedLimits = {
  maxBytes: 1e9,
  maxRecordBytes: 1e7,
  maxRatio: 1_000,
  totalTimeoutMs: 60_000,
  firstByteTimeoutMs: 60_000,
  minBytesPerSecond: 1,
};

type SourceSettings = Partial<Omit<FeedSource, 'limits' | 'from'>> &
  Partial<Omit<HttpConfig, 'kind' | 'url'>> & {
    /** A URL, a path, or `-` for standard input. */
    location: string;
    limits?: Partial<FeedLimits>;
  };

/** A source with generous limits. */
export const sourceOf = (settings: SourceSettings): FeedSource => {
  const { location, headers = {}, credentials, maxRedirects = 5, allowPrivateRedirects = false, ...source } = settings;
  const http = {
    kind: 'http',
    url: location,
    headers,
    credentials,
    accept: '*/*',
    maxRedirects,
    allowPrivateRedirects,
  } as const;
  const local = location === '-' ? ({ kind: 'stdin' } as const) : ({ kind: 'file', path: location } as const);
  return {
    from: /^https?:/.test(location) ? http : local,
    format: 'xml' as const,
    recordPath: 'source/job',
    totalPaths: [],
    ...source,
    limits: { ...generousLimits, ...source.limits },
  };
};

/** Reads a feed with `readFeed` and generous limits, and collects its records. */
export async function read(
  source: SourceSettings,
  context: Partial<ReadingContext> = {},
): Promise<{ reading: FeedReading; records: string[]; oversized: Collected['oversizedRecords'] }> {
  const sink = collect();
  const reading = await readFeed(sourceOf(source), sink, { signal: new AbortController().signal, ...context });
  return { reading, records: sink.records, oversized: sink.oversizedRecords };
}

/** Whether deletes may follow from a reading. */
export const isComplete = (reading: FeedReading): boolean => reading.kind === 'read' && reading.shortfalls.length === 0;
