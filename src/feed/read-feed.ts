// Reads a feed from its source: turns a location into records, and into what is known of the reading's completeness.
import type { Readable } from 'node:stream';
import type { MappingSpec } from '../posting/mapping.ts';
import { startSplitting } from './batch/start-splitting.ts';
import { toUtf8 } from './decode/charset.ts';
import { decompress } from './decode/gunzip.ts';
import { type Pace, startPace } from './decode/pace.ts';
import type { FeedLimits, FeedReading, FeedSource, RecordSink, Validators } from './feed-reading.ts';
import type { SplitEnd } from './format/xml/xml-splitter.ts';
import { openFile } from './source/file.ts';
import { type GatheredBody, gatheredBody, type Wait } from './source/gathered-body.ts';
import { openHttp } from './source/http.ts';
import { type Network, systemNetwork } from './source/redirect-guard.ts';
import { BrokenOff, type OpenedSource, type SourceBody } from './source/source-body.ts';
import { openStdin } from './source/stdin.ts';

/** How far a reading has come. */
export interface FeedProgress {
  /** Decompressed bytes. */
  readonly bytes: number;
  readonly compressedBytes: number;
  readonly records: number;
  /** Compressed bytes that there are in all, where the source says it. */
  readonly totalCompressedBytes?: number;
}

export interface OpeningContext {
  /** Of the last complete reading: an HTTP source that still has that version is not read again. */
  readonly validators?: Validators;
  /** Aborting it ends the reading: `readFeed` throws its reason. */
  readonly signal: AbortSignal;
  /** Read for the location `-`; the process's own by default. */
  readonly stdin?: Readable;
  /** How names are looked up, and which addresses are private; the system's and the registries' by default. */
  readonly network?: Network;
  /** Time over which the minimum rate is averaged, in milliseconds; 30 s by default. */
  readonly rateWindowMs?: number;
}

export interface SplittingContext {
  /** Called after every chunk, and at the end. */
  readonly onProgress?: (progress: FeedProgress) => void;
  /** A feed with more bytes is split in a thread of its own; 2 MiB by default, where there is more than one core. */
  readonly threadsFromBytes?: number;
  /** By what mapping that thread reads records as well, as far as it has the time: where most of them will be read anyhow. */
  readonly prefetchMapping?: MappingSpec;
  /** How the source's bytes are waited for. */
  readonly wait?: Wait;
}

export interface ReadingContext extends OpeningContext, SplittingContext {}

/** A source that has answered with a body. Whoever opened it closes it. */
export interface OpenedFeed {
  readonly kind: 'opened';
  /** Waits for the first bytes, and keeps them: for more than `limit`. Resolves to whether that is the whole body. */
  gather(limit: number): Promise<boolean>;
  /** Reads the feed to its end, as {@link readFeed} does; a whole body that was gathered may be read again. */
  read(sink: RecordSink, context: SplittingContext): Promise<Extract<FeedReading, { kind: 'read' | 'failed' }>>;
  close(): void;
}

/** Ratios of small feeds say nothing. */
const RATIO_FROM_BYTES = 10 * 1024 * 1024;

/**
 * Reads one feed to its end, handing its records to `sink` as they come. Never throws for what the source does or
 * sends; throws what the sink throws, and the reason of `context.signal`. What counts as complete: `docs/feeds.md`.
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

/** Asks a source for its feed. Throws only the reason of `context.signal`. */
export async function openFeed(
  source: FeedSource,
  context: OpeningContext,
): Promise<OpenedFeed | Exclude<FeedReading, { kind: 'read' }>> {
  const isHttp = /^https?:/i.test(source.location);
  const pace = startPace(
    {
      totalTimeoutMs: source.limits.totalTimeoutMs,
      firstByteTimeoutMs: isHttp ? source.limits.firstByteTimeoutMs : undefined,
      minBytesPerSecond: isHttp ? source.limits.minBytesPerSecond : undefined,
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
  return {
    kind: 'opened',
    async gather(limit) {
      if ((body.totalBytes ?? 0) > limit) return false;
      const whole = await gathered.gather(limit);
      context.signal.throwIfAborted();
      // Nothing is waited for any more.
      if (whole) pace.stop();
      return whole;
    },
    read: (sink, splitting) => readBody(body, gathered, source, sink, { ...splitting, signal: context.signal }, pace),
    close() {
      gathered.close();
      pace.stop();
    },
  };
}

async function open(source: FeedSource, context: OpeningContext, pace: Pace): Promise<OpenedSource> {
  const { location } = source;
  if (location === '-') return openStdin(context.stdin ?? process.stdin);
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(location)?.[1]?.toLowerCase();
  if (scheme === undefined) return openFile(location, pace.signal);
  if (scheme !== 'http' && scheme !== 'https') {
    return {
      kind: 'failed',
      message: `feeds are not read from ${scheme}: addresses; fetch it another way and pipe it in, with - as source`,
    };
  }
  try {
    const conditions = {
      validators: context.validators,
      signal: pace.signal,
      network: context.network ?? systemNetwork,
    };
    return await openHttp(source, conditions);
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
  context: SplittingContext & Pick<OpeningContext, 'signal'>,
  pace: Pace,
): Promise<Extract<FeedReading, { kind: 'read' | 'failed' }>> {
  const options = {
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
  const tell = () =>
    context.onProgress?.({ ...size, records: splitting.records, totalCompressedBytes: body.totalBytes });
  let broken: string | undefined;
  try {
    try {
      for await (const chunk of toUtf8(unpacked, { configured: source.encoding, transport: body.charset })) {
        await splitting.push(chunk);
        tell();
        if (splitting.refusal !== undefined) {
          // Before the loop ends its source, which may be waiting for bytes.
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
    tell();
    return conclude(end, broken, size.bytes, body.validators);
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

/** Breaks off where too much comes. What came before the limit of bytes is passed on, however it was cut into chunks. */
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

/** Nothing read is a failure; something read that is not proven to be all is a reading that falls short. */
function conclude(
  end: SplitEnd,
  broken: string | undefined,
  bytes: number,
  validators: Validators,
): Extract<FeedReading, { kind: 'read' | 'failed' }> {
  const { records, declaredTotal } = end;
  const refusals = [broken, end.refusal].filter((reason) => reason !== undefined);
  if (records === 0 && refusals[0] !== undefined) return { kind: 'failed', message: refusals[0], bytes };
  const shortfalls = [...refusals, ...end.shortfalls];
  // Validators of a reading that fell short would turn it into "not modified" the next time.
  return {
    kind: 'read',
    records,
    bytes,
    shortfalls,
    validators: shortfalls.length > 0 ? {} : validators,
    declaredTotal,
  };
}
