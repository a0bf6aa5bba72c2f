// Reads the documents of an opened source into records: decompresses, decodes and splits each, within the feed's limits.
import type { FieldMapping } from '../posting/field-mapping.ts';
import type { Splitting } from './batch/splitting.ts';
import { startSplitting } from './batch/start-splitting.ts';
import { toUtf8 } from './decode/charset.ts';
import { type DocumentLength, decompress } from './decode/gunzip.ts';
import { bounded, counted, type Size, SizeExceeded } from './decode/size-limits.ts';
import { DocumentEnds } from './document-ends.ts';
import type { FeedReading, FeedSource, RecordSink } from './feed-reading.ts';
import { formatOf } from './format/formats.ts';
import type { ReadingClock } from './reading-clock.ts';
import { BrokenOff, type OpenedDocuments, type SourceDocument } from './source/source.ts';

/** Progress of a reading. */
export interface FeedProgress {
  /** Decompressed bytes. */
  readonly bytes: number;
  readonly compressedBytes: number;
  readonly records: number;
  /** Total compressed bytes, if the source declares it. */
  readonly totalCompressedBytes?: number;
}

/** Where a record begins. */
export interface RecordPlace {
  /** What distinguishes the document from the feed's other documents. */
  readonly document: string;
  /** From 1; `undefined` if it is not known. */
  readonly line: number | undefined;
}

export interface SplittingContext {
  /** Called after every chunk, and at the end of each document. */
  readonly onProgress?: (progress: FeedProgress) => void;
  /** A feed with more bytes is split in a worker thread; 2 MiB by default if there is more than one core. */
  readonly threadsFromBytes?: number;
  /** The mapping with which that thread also parses records if it has time, for feeds whose records are mostly new. */
  readonly prefetchMapping?: FieldMapping;
  /** Called with the place of each record before the sink receives it. This costs time, and no other thread is used. */
  readonly onRecord?: (place: RecordPlace) => void;
}

interface DocumentsContext extends SplittingContext {
  readonly clock: ReadingClock;
  readonly signal: AbortSignal;
  /** Ends the source, which may be waiting for bytes. */
  stop(): void;
}

/** Reads documents to the end of the last one. Throws what the sink throws, and the reason of `context.signal`. */
export async function readDocuments(
  opened: OpenedDocuments,
  source: FeedSource,
  sink: RecordSink,
  context: DocumentsContext,
): Promise<Extract<FeedReading, { kind: 'read' | 'failed' }>> {
  const { format, recordPath, totalPaths, limits, lenient, table, script, acceptsEmptyPages } = source;
  const { maxRecordBytes } = limits;
  const options = { format, recordPath, totalPaths, maxRecordBytes, lenient, table, script, acceptsEmptyPages };
  const { threadsFromBytes: threadsFrom, prefetchMapping, onRecord: onPlace } = context;
  const onRecord =
    onPlace === undefined ? undefined : (line: number | undefined) => onPlace({ document: reading.document, line });
  const splitting = startSplitting(options, sink, { threadsFrom, prefetchMapping, onRecord });
  const reading: Reading = {
    source,
    splitting,
    size: { bytes: 0, compressedBytes: 0 },
    ends: new DocumentEnds(),
    totalCompressedBytes: opened.totalBytes,
    document: '',
  };
  try {
    await readEach(opened.documents, reading, context);
    return reading.ends.conclude(reading.size.bytes, () => opened.version?.());
  } finally {
    await splitting.close();
  }
}

interface Reading {
  readonly source: FeedSource;
  readonly splitting: Splitting;
  /** Of all documents so far. */
  readonly size: Size;
  readonly ends: DocumentEnds;
  readonly totalCompressedBytes: number | undefined;
  /** The name of the current one. */
  document: string;
}

/**
 * Reads on after a document whose bytes broke off, but not after one that is refused: the source may send no feed at all,
 * unless it is one of several.
 */
async function readEach(
  documents: AsyncIterable<SourceDocument>,
  reading: Reading,
  context: DocumentsContext,
): Promise<void> {
  let broken: BrokenOff | undefined;
  try {
    for await (const document of documents) {
      const end = await readDocument(document, reading, context);
      broken = end.broken;
      if (broken === undefined ? end.refused && document.stop === undefined : broken instanceof SizeExceeded) return;
    }
  } catch (error) {
    const reason = brokenOff(error, context.signal);
    // Whatever ended the whole source has already ended the document.
    if (reason !== broken) reading.ends.breakOff(reason.message);
  }
}

/** Returns why the document's bytes broke off, if they did, and whether its content was refused. */
async function readDocument(
  document: SourceDocument,
  reading: Reading,
  { onProgress, signal, stop, clock }: DocumentsContext,
): Promise<{ readonly broken: BrokenOff | undefined; readonly refused: boolean }> {
  const { source, splitting, size, ends, totalCompressedBytes } = reading;
  reading.document = document.name;
  const { usesAddress = false, dependsOnTime = false } = formatOf(source.format);
  const { address, isElsewhere } = document;
  if (usesAddress || dependsOnTime) splitting.begin({ address, isElsewhere, time: clock.time });
  const report = () => onProgress?.({ ...size, records: splitting.records, totalCompressedBytes });
  const length: DocumentLength = { isProven: document.isEndProven ?? false, relayed: document.relayed };
  const unpacked = bounded(decompress(counted(document.chunks, size), length), size, source.limits);
  let broken: BrokenOff | undefined;
  try {
    for await (const chunk of toUtf8(unpacked, { configured: source.encoding, transport: document.charset })) {
      await splitting.push(chunk);
      report();
      if (splitting.refusal !== undefined) {
        // Stop first: leaving the loop ends the source, which may be waiting for bytes.
        (document.stop ?? stop)();
        break;
      }
    }
  } catch (error) {
    broken = brokenOff(error, signal);
  }
  const end = await splitting.endDocument(broken === undefined && length.isProven);
  ends.add({ ...document, relayed: length.relayed }, end, broken?.message);
  report();
  return { broken, refused: end.refusal !== undefined };
}

/** Throws any error that is not the source's. */
function brokenOff(error: unknown, signal: AbortSignal): BrokenOff {
  signal.throwIfAborted();
  if (error instanceof BrokenOff) return error;
  throw error;
}
