// Types of reading a feed: the source, the sink that receives its records, and the result.

import type { AnswerMark, FeedCopy, SourceRecords } from '../plan/source-faults.ts';
import type { RecordBatch } from './batch/record-batch.ts';
import type { SplitOptions } from './format/format.ts';
import type { FormatName } from './format/format-kinds.ts';
import type { DetailsConfig, SourceConfig } from './source/sources.ts';

/** Where the bytes of a feed come from, how they are read, and their limits. */
export interface FeedSource
  extends Pick<SplitOptions, 'recordPath' | 'totalPaths' | 'lenient' | 'table' | 'script' | 'acceptsEmptyPages'> {
  readonly from: SourceConfig;
  readonly format: FormatName;
  /** Overrides the character encoding from BOM, HTTP header and XML declaration. */
  readonly encoding?: string;
  /** A source of several may be empty. */
  readonly acceptsEmptySources?: boolean;
  /** The source is known to list all of its postings, however many they are. */
  readonly listsAll?: boolean;
  readonly limits: FeedLimits;
  /** How the detail of a posting is requested, if its record lacks a part of it. Only for sources over HTTP. */
  readonly details?: DetailsConfig;
}

export interface FeedLimits {
  /** Decompressed bytes of the whole feed. */
  readonly maxBytes: number;
  /** Bytes of one record; a larger one is skipped and handed over as oversized. */
  readonly maxRecordBytes: number;
  /** Decompressed bytes per compressed byte, checked beyond 10 MiB of output. */
  readonly maxRatio: number;
  /** From the first request to the last byte, in milliseconds. */
  readonly totalTimeoutMs: number;
  /** Until the first byte from a remote source, in milliseconds. */
  readonly firstByteTimeoutMs: number;
  /** Minimum bytes per second from a remote source, averaged over 30 s. */
  readonly minBytesPerSecond: number;
}

/** Receives records in feed order while the feed streams. */
export interface RecordSink {
  /** The batch is reused after the call: copy what you keep. */
  take(batch: RecordBatch): void;
  /** Called after each batch: a promise pauses reading until it resolves. */
  drain(): Promise<void> | undefined;
}

/** The result of reading a feed once. */
export type FeedReading =
  | { readonly kind: 'not_modified' }
  | {
      readonly kind: 'read';
      readonly records: number;
      /** Decompressed bytes. */
      readonly bytes: number;
      /** Why the feed is not proven complete, for people; empty: complete. */
      readonly shortfalls: readonly string[];
      /**
       * What the next reading passes on to read nothing if the source is unchanged; `undefined` if this one is incomplete,
       * was opened without a request digest, or the source has no versions.
       */
      readonly version: string | undefined;
      /** Set if nothing but a proxy may have ended a document: why, for people, and what tells the answers from others. */
      readonly weak?: { readonly reason: string; readonly marks: readonly AnswerMark[] };
      /** What tells it from other copies of the feed; absent: nothing came from the web. */
      readonly copy?: FeedCopy;
      /** The total that the feed declared, if any. */
      readonly declaredTotal?: number;
      /** How many records each list from the web has that is one document of a source, and of which no header states a total. */
      readonly uncounted?: readonly number[];
      /** Whether one of the documents says that it is of a kind that mostly lists the newest entries. */
      readonly listsEntries?: boolean;
      /** How many records each source, list and file has; absent: they may be empty. */
      readonly sources?: readonly SourceRecords[];
      /** Which records were on which page, if the feed has lists of several pages. */
      readonly pages?: readonly PageRecords[];
      /** Without records: what the configured path of the records may mean instead, for people. */
      readonly advice?: string;
    }
  /**
   * Nothing could be read: unreachable, an error status, HTML, not XML, refused. `message` says what happened and what
   * to do.
   */
  | { readonly kind: 'failed'; readonly message: string; readonly bytes: number };

/** The records of one page of a list: positions in the feed, from 0; `end` is not included. */
export interface PageRecords {
  readonly list: string;
  readonly name: string;
  readonly start: number;
  readonly end: number;
}
