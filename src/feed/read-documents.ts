// Reads the documents of an opened source into records: decompresses, decodes and splits each, within the feed's
// limits, and concludes from their ends whether the reading is complete.
import type { AnswerMark } from '../plan/source-faults.ts';
import type { FieldMapping } from '../posting/field-mapping.ts';
import { HashSum } from '../posting/hash.ts';
import type { Splitting } from './batch/splitting.ts';
import { startSplitting } from './batch/start-splitting.ts';
import { toUtf8 } from './decode/charset.ts';
import {
  countStoredBytes,
  type DocumentLength,
  decompress,
  limitDecompressedBytes,
  type Size,
  SizeExceeded,
} from './decode/gunzip.ts';
import type { FeedReading, FeedSource, PageRecords, RecordSink } from './feed-reading.ts';
import type { FollowingPage, PageNumber, SplitEnd } from './format/format.ts';
import { formatOf } from './format/formats.ts';
import type { ReadingClock } from './reading-clock.ts';
import {
  FeedReadingError,
  idOfDocument,
  type ListTotal,
  type OpenedDocuments,
  type SourceDocument,
} from './source/source.ts';
import { askedRecords, comparableAddress } from './source/sources.ts';

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
  const sum = new HashSum();
  const summing: RecordSink = {
    take(batch) {
      for (let record = 0; record < batch.count; record++) sum.add(batch.hashes, batch.hashAt(record));
      sink.take(batch);
    },
    drain: () => sink.drain(),
  };
  const splitting = startSplitting(options, summing, { threadsFrom, prefetchMapping, onRecord });
  const reading: Reading = {
    source,
    splitting,
    size: { bytes: 0, compressedBytes: 0 },
    ends: new DocumentEnds(source),
    totalCompressedBytes: opened.totalBytes,
    document: '',
  };
  try {
    await readEach(opened.documents, reading, context);
    return reading.ends.conclude(reading.size.bytes, sum, () => opened.version?.());
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
  let broken: FeedReadingError | undefined;
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
): Promise<{ readonly broken: FeedReadingError | undefined; readonly refused: boolean }> {
  const { source, splitting, size, ends, totalCompressedBytes } = reading;
  reading.document = document.name;
  const { usesAddress = false, dependsOnTime = false } = formatOf(source.format);
  const { address, isElsewhere } = document;
  if (usesAddress || dependsOnTime) splitting.begin({ address, isElsewhere, time: clock.time });
  const report = () => onProgress?.({ ...size, records: splitting.records, totalCompressedBytes });
  const length: DocumentLength = { isProven: document.isEndProven ?? false, relayed: document.relayed };
  const unpacked = limitDecompressedBytes(
    decompress(countStoredBytes(document.chunks, size), length),
    size,
    source.limits,
  );
  let broken: FeedReadingError | undefined;
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
  // A posting's page may lead to the next posting.
  const linked = usesAddress ? [] : [document.following, fullPage(document, end)].filter((each) => each !== undefined);
  const following = isTotalMet(end, source.totalPaths) ? [] : [...linked, ...(end.following ?? [])];
  const listTotal = usesAddress ? undefined : document.listTotal;
  ends.add({ ...end, following }, { ...document, relayed: length.relayed, listTotal }, broken?.message);
  report();
  return { broken, refused: end.refusal !== undefined };
}

/** Whether the document has the whole list. A count may be the page's own; a round number may be a cap or the size of a page. */
const isTotalMet = ({ declaredTotal, records }: SplitEnd, totalPaths: readonly string[]): boolean =>
  declaredTotal === records && records % 5 !== 0 && totalPaths.every((path) => /total|found/i.test(path));

/** That the document may be a page, as it has as many records as its address asks for. */
function fullPage({ requested }: SourceDocument, { records }: SplitEnd): FollowingPage | undefined {
  const asked = requested && askedRecords(new URL(requested[1]));
  return asked?.records === records
    ? {
        said: `the document has as many records as its address asks for (${asked.said}), so that another page may follow`,
      }
    : undefined;
}

/** Throws any error that is not the source's. */
function brokenOff(error: unknown, signal: AbortSignal): FeedReadingError {
  signal.throwIfAborted();
  if (error instanceof FeedReadingError) return error;
  throw error;
}

// Adds up how the documents of a feed ended, and concludes what was read and whether it is complete.

const WEAK = 'its end is proven only weakly: it shows no end of its own, and';
const RELAYED =
  'the response has no length that comes from the source itself, so a proxy or a cache may have sent a part of it; a job is deleted only once ' +
  'its posting is missing from two answers that cannot be the same cached one (another ETag, Last-Modified or Age, or an hour between them)';
const PIPED =
  'the program before the pipe closes it in the same way if it fails; a job is deleted only once its posting is missing from two pulls with an ' +
  'hour between them; to delete at once, save the feed in a file first, and pull only if that succeeded';

const READ_GROUP = 'get a document with all pages of the lists in it';
const READ_ALL = 'set pages, so that the whole list is read';
const OR_TOTAL = ', or total, if the document states how many postings the whole list has';
const IF_ALL = 'or set expect: { cap: none } if the source really lists all of its postings';
const TOTAL_MET = '; the total that is met may be that of the page, or the most that the source lists';

/** A page of the list that the page at this address is one of. */
const numberedPage = ({ page, pages }: PageNumber, address: string, which = page): string =>
  `${which} of ${pages} of ${comparableAddress(address, page)}`;

/** More shortfalls are only counted. */
const MAX_SHORTFALLS = 50;

/** The feed is complete if every document is, and the source has proven that none follows. */
class DocumentEnds {
  #documents = 0;
  #records = 0;
  #declaredTotal: number | undefined = 0;
  /** Why bytes are missing or the content is refused; without records, the first one is why the reading failed. */
  #refusal: Shortfall | undefined;
  readonly #pages: PageRecords[] = [];
  /** Those of each list: a repeated posting on an only page is no sign that the list moved. */
  readonly #pagesOf = new Map<string, Set<string>>();
  readonly #shortfalls: Shortfall[] = [];
  /** By list: the records of its documents, the most that one of them states by a header, and whether its source reads it to its end. */
  readonly #listed = new Map<string, { records: number; total: ListTotal | undefined; isPaged: boolean }>();
  /** Of each list, and each other document. */
  readonly #sources = new Map<string, { readonly source: string; records: number }>();
  readonly #listsAll: boolean;
  readonly #mayBeEmpty: boolean;
  #further = 0;
  #advice: string | undefined;
  #listsEntries = false;
  /** Of the documents that a proxy may have cut. */
  readonly #marks: AnswerMark[] = [];
  #weak: Shortfall | undefined;
  /** See `SourceDocument`; absent: none of them is from the web. */
  #isCached: boolean | undefined;
  /** Of its only document. */
  #madeAt: number | undefined;
  /** Addresses of documents that were read. */
  readonly #read = new Set<string>();
  #following: {
    readonly document: string;
    readonly following: readonly FollowingPage[];
    readonly requested: readonly [string, string];
    readonly pageNumber: PageNumber | undefined;
    /** The comparable addresses of the page and of its list, as there may be a thousand sources. */
    readonly page: string;
    readonly list: string;
  }[] = [];
  /** Which pages of which lists the documents say they are. */
  readonly #numbered = new Set<string>();

  constructor({ listsAll = false, acceptsEmptySources = false, format }: FeedSource) {
    this.#listsAll = listsAll;
    // A posting's page has one posting or none.
    this.#mayBeEmpty = acceptsEmptySources || formatOf(format).usesAddress === true;
  }

  /** Notes the end of a document. @param broken why its bytes broke off, if they did. */
  add(end: SplitEnd, sourceDocument: SourceDocument, broken: string | undefined): void {
    const { name: document, pageOf, stop, relayed, mark, requested, listTotal } = sourceDocument;
    this.#documents++;
    const start = this.#records;
    this.#records += end.records;
    const list = pageOf ?? (requested && comparableAddress(requested[1], end.pageNumber?.page ?? 'list'));
    const id = idOfDocument(sourceDocument);
    const source = this.#sources.get(list ?? id) ?? { source: id, records: 0 };
    source.records += end.records;
    this.#sources.set(list ?? id, source);
    if (list !== undefined) {
      this.#pages.push({ list, name: document, start, end: this.#records });
      this.#pagesOf.set(list, (this.#pagesOf.get(list) ?? new Set()).add(requested?.[1] ?? document));
      const { records, total } = this.#listed.get(list) ?? { records: 0, total: undefined };
      const isMore = (listTotal?.records ?? 0) > (total?.records ?? 0);
      const isPaged = pageOf !== undefined;
      this.#listed.set(list, { records: records + end.records, total: isMore ? listTotal : total, isPaged });
    }
    this.#declaredTotal =
      this.#declaredTotal === undefined || end.declaredTotal === undefined
        ? undefined
        : this.#declaredTotal + end.declaredTotal;
    this.#advice ??= end.advice;
    this.#listsEntries ||= end.listsEntries === true;
    this.#isCached ||= sourceDocument.isCached ?? this.#isCached;
    this.#madeAt = this.#documents === 1 ? sourceDocument.madeAt : undefined;
    if (relayed !== undefined && end.isOpen === true) {
      this.#weak ??= { document, reason: `${WEAK} ${relayed === 'piped' ? PIPED : RELAYED}` };
      this.#marks.push(mark ?? {});
    }
    for (const reason of [broken, end.refusal]) if (reason !== undefined) this.#refuse({ document, reason });
    // What something else than a feed lacks of one says no more.
    if (stop !== undefined && end.refusal !== undefined) return;
    for (const reason of end.shortfalls) this.#note({ document, reason });
    // Files may hold all pages. The addresses of pages are followed elsewhere.
    if (pageOf !== undefined || requested === undefined) return;
    for (const address of requested) this.#read.add(comparableAddress(address));
    const { following = [], pageNumber } = end;
    if (pageNumber !== undefined) this.#numbered.add(numberedPage(pageNumber, requested[0]));
    const [page, ofList] = [comparableAddress(requested[0]), comparableAddress(requested[0], 'list')];
    if (following.length > 0) this.#following.push({ document, following, requested, pageNumber, page, list: ofList });
    else this.#endList(page, ofList);
  }

  /** A page that states no next page is the last of its list: earlier pages need not say which page follows them. */
  #endList(lastPage: string, ofList: string): void {
    this.#following = this.#following.filter(
      ({ following, page, list }) =>
        following.some((each) => each.address !== undefined) || page === lastPage || list !== ofList,
    );
  }

  #noteFollowing(): void {
    for (const { document, following, requested, pageNumber } of this.#following) {
      if (pageNumber !== undefined && this.#isNumberRead(requested[0], pageNumber)) continue;
      const own = requested.map((address) => comparableAddress(address));
      const others = following
        .map(({ said, address, isInGroup }) => ({
          said,
          isInGroup,
          at: address === undefined ? undefined : comparableAddress(address, 'page', requested[0]),
        }))
        .filter(({ at }) => at === undefined || !own.includes(at));
      const [first] = others;
      if (first === undefined || others.some(({ at }) => at !== undefined && this.#read.has(at))) continue;
      const isMet = this.#declaredTotal === this.#records;
      const orTotal = this.#documents === 1 ? OR_TOTAL : '';
      const advice = READ_ALL + (this.#declaredTotal === undefined ? orTotal : isMet ? TOTAL_MET : '');
      const reason = `${first.said}, which is not read; ${first.isInGroup ? READ_GROUP : advice}`;
      this.#note({ document, reason });
    }
  }

  /** Of a list that is incomplete for another reason, it says no more. */
  #noteTotals(): void {
    if (this.#listsAll || this.#shortfalls.length > 0) return;
    for (const { records, total } of this.#listed.values()) {
      if (total === undefined || total.records <= records) continue;
      const advice = this.#documents > 1 ? 'check pages or sources' : READ_ALL;
      const reason = `the header ${total.header} states ${total.records} records, but what was read has ${records}; ${advice}, ${IF_ALL}`;
      this.#note({ reason });
    }
  }

  /** Whether the page after this one was read, by what the pages say, or this is the last one of pages from 0. */
  #isNumberRead(address: string, { page, pages }: PageNumber): boolean {
    const isRead = (other: number) => this.#numbered.has(numberedPage({ page, pages }, address, other));
    return isRead(page + 1) || (page === pages - 1 && isRead(0));
  }

  /** Notes why the source broke off between its documents. */
  breakOff(reason: string): void {
    this.#refuse({ reason });
  }

  /** A reading without records that was cut short is a failure; one with records has shortfalls. */
  conclude(
    bytes: number,
    sum: HashSum,
    version: () => string | undefined,
  ): Extract<FeedReading, { kind: 'read' | 'failed' }> {
    if (this.#documents === 0) this.#refuse({ reason: 'the source has no documents' });
    if (this.#records === 0 && this.#refusal !== undefined) {
      return { kind: 'failed', message: this.#textOf(this.#refusal), bytes };
    }
    this.#noteFollowing();
    this.#noteTotals();
    const pages = this.#pages.filter(({ list }) => (this.#pagesOf.get(list)?.size ?? 0) > 1);
    const uncounted = [...this.#listed.values()].flatMap(({ records, total, isPaged }) =>
      total === undefined && !isPaged ? records : [],
    );
    const shortfalls = this.#shortfalls.map((shortfall) => this.#textOf(shortfall));
    if (this.#further > 0) shortfalls.push(`and ${this.#further} more`);
    return {
      kind: 'read',
      records: this.#records,
      bytes,
      shortfalls,
      // The version of an incomplete reading would make the next one "not modified".
      version: shortfalls.length > 0 ? undefined : version(),
      declaredTotal: this.#declaredTotal,
      ...(this.#isCached === undefined
        ? {}
        : {
            copy: {
              content: `${sum}`,
              ...(this.#madeAt === undefined ? {} : { madeAt: this.#madeAt }),
              ...(this.#isCached ? { isCached: true } : {}),
            },
          }),
      ...(uncounted.length === 0 ? {} : { uncounted }),
      ...(this.#listsEntries ? { listsEntries: true } : {}),
      ...(this.#mayBeEmpty ? {} : { sources: [...this.#sources.values()] }),
      ...(this.#weak === undefined || shortfalls.length > 0
        ? {}
        : { weak: { reason: this.#textOf(this.#weak), marks: this.#marks } }),
      ...(pages.length === 0 ? {} : { pages }),
      ...(this.#records > 0 || this.#advice === undefined ? {} : { advice: this.#advice }),
    };
  }

  #refuse(shortfall: Shortfall): void {
    this.#refusal ??= shortfall;
    this.#note(shortfall);
  }

  #note(shortfall: Shortfall): void {
    if (this.#shortfalls.length < MAX_SHORTFALLS) this.#shortfalls.push(shortfall);
    else this.#further++;
  }

  /** Names the document if there are several. */
  #textOf({ document, reason }: Shortfall): string {
    return document === undefined || this.#documents === 1 ? reason : `${document}: ${reason}`;
  }
}

interface Shortfall {
  /** Absent if it is about the whole feed. */
  readonly document?: string;
  readonly reason: string;
}
