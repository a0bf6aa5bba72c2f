// Reads a feed from its source into records, and determines whether the reading is complete.
import type { Readable } from 'node:stream';
import type { MappingSpec } from '../posting/mapping.ts';
import { startSplitting } from './batch/start-splitting.ts';
import { toUtf8 } from './decode/charset.ts';
import { decompress } from './decode/gunzip.ts';
import { type Pace, startPace } from './decode/pace.ts';
import type { FeedLimits, FeedReading, FeedSource, RecordSink } from './feed-reading.ts';
import type { SplitEnd } from './format/format.ts';
import { type GatheredBody, gatheredBody, type Wait } from './source/gathered-body.ts';
import { boundVersion, versionBoundTo } from './source/request-digest.ts';
import { BrokenOff, type Network, type OpenedSource, type SourceBody } from './source/source.ts';
import { kindOf } from './source/sources.ts';

/** Progress of a reading. */
export interface FeedProgress {
  /** Decompressed bytes. */
  readonly bytes: number;
  readonly compressedBytes: number;
  readonly records: number;
  /** Total compressed bytes, if the source declares it. */
  readonly totalCompressedBytes?: number;
}

export interface OpeningContext {
  /** From the last complete reading: if the source still has this version, it is not read again. */
  readonly version?: string;
  /** Digest of what is asked for and how it is read (`requestDigest`). Versions are bound to it; without it there are none. */
  readonly request?: string;
  /** Aborting it ends the reading; `readFeed` throws its reason. */
  readonly signal: AbortSignal;
  /** By default the standard input of the process. */
  readonly stdin?: Readable;
  /** Name lookup and the list of private addresses; by default the system's lookup and the IANA registries. */
  readonly network?: Network;
  /** Window over which the minimum rate is averaged, in milliseconds; 30 s by default. */
  readonly rateWindowMs?: number;
}

export interface SplittingContext {
  /** Called after every chunk, and at the end. */
  readonly onProgress?: (progress: FeedProgress) => void;
  /** A feed with more bytes is split in a worker thread; 2 MiB by default if there is more than one core. */
  readonly threadsFromBytes?: number;
  /** The mapping with which that thread also parses records if it has time, for feeds whose records are mostly new. */
  readonly prefetchMapping?: MappingSpec;
  /** How to wait for the source's bytes. */
  readonly wait?: Wait;
}

export interface ReadingContext extends OpeningContext, SplittingContext {}

/** A source that answered with a body. Whoever opened it must close it. */
export interface OpenedFeed {
  readonly kind: 'opened';
  /** Buffers the body until it exceeds `limit`. Resolves to whether that was the whole body. */
  gather(limit: number): Promise<boolean>;
  /** Reads the feed to its end, like {@link readFeed}. A body that was gathered whole may be read again. */
  read(sink: RecordSink, context: SplittingContext): Promise<Extract<FeedReading, { kind: 'read' | 'failed' }>>;
  close(): void;
}

/** The compression ratio of smaller feeds is not checked. */
const RATIO_FROM_BYTES = 10 * 1024 * 1024;

/**
 * Reads one feed to its end and hands its records to `sink` as they arrive. Never throws because of the source; throws
 * what the sink throws, and the reason of `context.signal`. What counts as complete: `docs/feeds.md`.
 */
export async function readFeed(source: FeedSource, sink: RecordSink, context: ReadingContext): Promise<FeedReading> {
  const opened = await openFeed(source, context);
  if (opened.kind !== 'opened') return opened;
  try {
    return await opened.read(sink, context);
  } finally {
    opened.close();
  }
}

/** Opens a source. Throws only the reason of `context.signal`. */
export async function openFeed(
  source: FeedSource,
  context: OpeningContext,
): Promise<OpenedFeed | Exclude<FeedReading, { kind: 'read' }>> {
  const { isRemote } = kindOf(source.from);
  const pace = startPace(
    {
      totalTimeoutMs: source.limits.totalTimeoutMs,
      firstByteTimeoutMs: isRemote ? source.limits.firstByteTimeoutMs : undefined,
      minBytesPerSecond: isRemote ? source.limits.minBytesPerSecond : undefined,
      rateWindowMs: context.rateWindowMs ?? 30_000,
    },
    context.signal,
  );
  let opened: OpenedSource | undefined;
  try {
    opened = await open(source, context, pace);
  } finally {
    if (opened?.kind !== 'body') pace.stop();
  }
  if (opened.kind === 'failed') return { kind: 'failed', message: opened.message, bytes: 0 };
  if (opened.kind === 'not_modified') return opened;
  const { body } = opened;
  const gathered = gatheredBody(pace.watch(body.chunks));
  const reading = { signal: context.signal, request: context.request };
  return {
    kind: 'opened',
    async gather(limit) {
      if ((body.totalBytes ?? 0) > limit) return false;
      const whole = await gathered.gather(limit);
      context.signal.throwIfAborted();
      // Nothing is left to wait for.
      if (whole) pace.stop();
      return whole;
    },
    read: (sink, splitting) => readBody(body, gathered, source, sink, { ...splitting, ...reading }, pace),
    close() {
      gathered.close();
      pace.stop();
    },
  };
}

async function open({ from }: FeedSource, context: OpeningContext, pace: Pace): Promise<OpenedSource> {
  const version = versionBoundTo(context.request, context.version);
  try {
    return await kindOf(from).open(from, {
      version,
      signal: pace.signal,
      stdin: context.stdin,
      network: context.network,
    });
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof BrokenOff) return { kind: 'failed', message: error.message };
    throw error;
  }
}

async function readBody(
  body: SourceBody,
  gathered: GatheredBody,
  source: FeedSource,
  sink: RecordSink,
  context: SplittingContext & Pick<OpeningContext, 'signal' | 'request'>,
  pace: Pace,
): Promise<Extract<FeedReading, { kind: 'read' | 'failed' }>> {
  const options = {
    format: source.format,
    recordPath: source.recordPath,
    totalPaths: source.totalPaths,
    maxRecordBytes: source.limits.maxRecordBytes,
  };
  const splitting = startSplitting(options, sink, {
    threadsFrom: context.threadsFromBytes,
    prefetchMapping: context.prefetchMapping,
  });
  const size: Size = { bytes: 0, compressedBytes: 0 };
  const received = counted(gathered.chunks(context.wait ?? ((next) => next)), size);
  const unpacked = bounded(decompress(received), size, source.limits);
  const report = () =>
    context.onProgress?.({ ...size, records: splitting.records, totalCompressedBytes: body.totalBytes });
  let broken: string | undefined;
  try {
    try {
      for await (const chunk of toUtf8(unpacked, { configured: source.encoding, transport: body.charset })) {
        await splitting.push(chunk);
        report();
        if (splitting.refusal !== undefined) {
          // Stop first: leaving the loop ends the source, which may be waiting for bytes.
          pace.stop();
          break;
        }
      }
    } catch (error) {
      context.signal.throwIfAborted();
      if (!(error instanceof BrokenOff)) throw error;
      broken = error.message;
    }
    const end = await splitting.finish();
    report();
    return conclude(end, broken, size.bytes, boundVersion(body.version, context.request));
  } finally {
    await splitting.close();
  }
}

interface Size {
  bytes: number;
  compressedBytes: number;
}

async function* counted(chunks: AsyncIterable<Buffer>, size: Size): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    size.compressedBytes += chunk.length;
    yield chunk;
  }
}

/** Breaks off at the size limits. Bytes up to the limit are passed on, however the chunks are split. */
async function* bounded(chunks: AsyncIterable<Buffer>, size: Size, limits: FeedLimits): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    size.bytes += chunk.length;
    const excess = size.bytes - limits.maxBytes;
    if (excess > 0) {
      yield chunk.subarray(0, -excess);
      throw new BrokenOff(`the feed is larger than the limit of ${limits.maxBytes} bytes`);
    }
    if (size.bytes > RATIO_FROM_BYTES && size.bytes > size.compressedBytes * limits.maxRatio) {
      throw new BrokenOff(`the feed decompresses to more than ${limits.maxRatio} times its size`);
    }
    yield chunk;
  }
}

/** A reading without records that was cut short is a failure; one with records has shortfalls. */
function conclude(
  end: SplitEnd,
  broken: string | undefined,
  bytes: number,
  version: string | undefined,
): Extract<FeedReading, { kind: 'read' | 'failed' }> {
  const { records, declaredTotal } = end;
  const refusals = [broken, end.refusal].filter((reason) => reason !== undefined);
  if (records === 0 && refusals[0] !== undefined) return { kind: 'failed', message: refusals[0], bytes };
  const shortfalls = [...refusals, ...end.shortfalls];
  // The version of an incomplete reading would make the next one "not modified".
  return {
    kind: 'read',
    records,
    bytes,
    shortfalls,
    version: shortfalls.length > 0 ? undefined : version,
    declaredTotal,
  };
}
