import { type FeedPace, startPace } from './decode/pace.ts';
import { unzipDocuments } from './decode/unzip-documents.ts';
import type { FeedReading, FeedSource, RecordSink } from './feed-reading.ts';
import { formatOf } from './format/formats.ts';
import { readDocuments, type SplittingContext } from './read-documents.ts';
import { type ReadingClock, startClock } from './reading-clock.ts';
import { boundVersion, versionBoundTo } from './source/request-digest.ts';
import { gatherDocuments, type WaitForBytes } from './source/several-source.ts';
import {
  FeedReadingError,
  type OpenedDocuments,
  type OpenedSource,
  type SourceContext,
  type SourceDocument,
} from './source/source.ts';
import { credentialsMask, kindOf, openSource } from './source/sources.ts';

export interface OpeningContext extends Omit<SourceContext, 'onRetry'> {
  /** Digest of what is asked for and how it is read (`requestDigest`). Versions are bound to it; without it there are none. */
  readonly request?: string;
  /** By default that of this process. */
  readonly clock?: ReadingClock;
  /** By default the source is opened as its kind does. */
  readonly openSource?: typeof openSource;
  /** Window over which the minimum rate is averaged, in milliseconds; 30 s by default. */
  readonly rateWindowMs?: number;
}

export interface ReadingContext extends OpeningContext, SplittingContext {
  /** How to wait for the source's documents and bytes. */
  readonly wait?: WaitForBytes;
}

/** A source that has documents to read. Whoever opened it must close it. */
export interface OpenedFeed {
  readonly kind: 'opened';
  /** Buffers documents until they exceed `limit` together. Resolves to whether those were all. */
  gather(limit: number): Promise<boolean>;
  /** Reads the feed to its end, like {@link readFeed}. A feed that was gathered whole may be read again. */
  read(
    sink: RecordSink,
    context: Omit<ReadingContext, keyof OpeningContext>,
  ): Promise<Extract<FeedReading, { kind: 'read' | 'failed' }>>;
  close(): void;
}

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
  const { signal, request, clock = startClock() } = context;
  const { isRemote } = kindOf(source.from);
  const pace = startPace(
    {
      totalTimeoutMs: source.limits.totalTimeoutMs,
      firstByteTimeoutMs: isRemote ? source.limits.firstByteTimeoutMs : undefined,
      minBytesPerSecond: isRemote ? source.limits.minBytesPerSecond : undefined,
      rateWindowMs: context.rateWindowMs ?? 30_000,
    },
    signal,
  );
  const mask = credentialsMask(source.from);
  const withoutSecrets = (message: string): string => mask?.text(message) ?? message;
  let opened: OpenedSource | undefined;
  try {
    opened = await open(source, context, pace);
  } finally {
    if (opened?.kind !== 'documents') pace.stop();
  }
  if (opened.kind === 'failed') return { kind: 'failed', message: withoutSecrets(opened.message), bytes: 0 };
  if (opened.kind === 'not_modified') return opened;
  const { totalBytes = 0, version } = opened;
  const documents = unzipDocuments(receivedDocuments(opened, pace, clock), source.limits, pace.signal);
  const gathered = gatherDocuments(documents);
  return {
    kind: 'opened',
    async gather(limit) {
      if (totalBytes > limit) return false;
      const whole = await gathered.gather(limit);
      signal.throwIfAborted();
      // Nothing is left to wait for.
      if (whole) pace.stop();
      return whole;
    },
    async read(sink, { wait = (next) => next, ...splitting }) {
      const reading = {
        ...opened,
        documents: gathered.documents(wait),
        version: () => boundVersion(version?.(), request),
      };
      const end = await readDocuments(reading, source, sink, { ...splitting, signal, stop: pace.stop, clock });
      if (end.kind === 'failed') return { ...end, message: withoutSecrets(end.message) };
      const { advice, weak } = end;
      const shortfalls = end.shortfalls.map(withoutSecrets);
      const masked = weak === undefined ? {} : { weak: { ...weak, reason: withoutSecrets(weak.reason) } };
      return { ...end, shortfalls, ...masked, ...(advice === undefined ? {} : { advice: withoutSecrets(advice) }) };
    },
    close() {
      gathered.close();
      pace.stop();
    },
  };
}

async function* receivedDocuments(
  { documents }: OpenedDocuments,
  pace: FeedPace,
  clock: ReadingClock,
): AsyncGenerator<SourceDocument> {
  for await (const document of pace.watch(documents, () => 0)) {
    clock.note(document.sentAt);
    yield { ...document, chunks: pace.watch(document.chunks, (chunk) => chunk.length) };
  }
}

async function open({ from, format }: FeedSource, context: OpeningContext, pace: FeedPace): Promise<OpenedSource> {
  const { request, stdin, network, uploads, limiter } = context;
  const version = formatOf(format).dependsOnTime === true ? undefined : versionBoundTo(request, context.version);
  try {
    return await (context.openSource ?? openSource)(from, {
      version,
      signal: pace.signal,
      onRetry: pace.restart,
      stdin,
      network,
      uploads,
      limiter,
    });
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof FeedReadingError) return { kind: 'failed', message: error.message };
    throw error;
  }
}
