// The words of the feed side: what a feed is read from, what reading it hands over, and what it ends with.
import type { RecordBatch } from './batch/record-batch.ts';

/** Where the bytes of a feed come from, and what bounds them. */
export interface FeedSource {
  /** An `http(s)` URL, a file path (absolute, or relative to the configuration file), or `-` for standard input. */
  readonly location: string;
  /** Extra request headers, such as an authorization; their values are secret. */
  readonly headers: Readonly<Record<string, { reveal(): string }>>;
  /** Path of the elements that are records, from the root: `source/job`; `*` stands for any one name. Prefixes are ignored. */
  readonly recordPath: string;
  /** Overrides what BOM, HTTP header and XML declaration say about the character encoding. */
  readonly encoding?: string;
  /** Records that are not well-formed are repaired where they can be. */
  readonly lenient?: boolean;
  /** Paths (from the root) of elements or attributes that hold the number of records the feed promises, if it does. */
  readonly totalPaths: readonly string[];
  readonly limits: FeedLimits;
  /** Allow redirects to private and loopback addresses. */
  readonly allowPrivateRedirects: boolean;
}

export interface FeedLimits {
  /** Decompressed bytes of the whole feed. */
  readonly maxBytes: number;
  /** Bytes of one record; a larger one is skipped while scanning and handed over as oversized. */
  readonly maxRecordBytes: number;
  /** Decompressed bytes per compressed byte, once more than 10 MiB came out. */
  readonly maxRatio: number;
  /** From the first request to the last byte, in milliseconds. */
  readonly totalTimeoutMs: number;
  /** To the first byte of the response body, in milliseconds. */
  readonly firstByteTimeoutMs: number;
  /** Below this many bytes a second, averaged over 30 s, the source is too slow. */
  readonly minBytesPerSecond: number;
  readonly maxRedirects: number;
}

/** Validators of an HTTP source, as received. */
export interface Validators {
  readonly etag?: string;
  readonly lastModified?: string;
  /** Digest of the address that sent them; they are sent to no other. */
  readonly address?: string;
}

/** Receives records while the feed streams, in the order of the feed. */
export interface RecordSink {
  /** The batch is used again after the call: copy what must stay. */
  take(batch: RecordBatch): void;
  /** Called after each batch: a promise pauses reading until it resolves. */
  drain(): Promise<void> | undefined;
}

/** How one reading of a feed ended. */
export type FeedReading =
  | { readonly kind: 'not_modified' }
  | {
      readonly kind: 'read';
      readonly records: number;
      /** Decompressed bytes. */
      readonly bytes: number;
      /** Why the feed is not proven complete, in words for people; empty: complete. */
      readonly shortfalls: readonly string[];
      readonly validators: Validators;
      /** The total that the feed declared, if any. */
      readonly declaredTotal?: number;
    }
  /** Nothing could be read of it: out of reach, an error status, HTML, not XML, refused. `message` says what and what to do. */
  | { readonly kind: 'failed'; readonly message: string; readonly bytes: number };
