// The interface for splitting a feed, whichever thread does the work.
import type { ReadingTime } from '../../posting/dates.ts';
import type { SplitEnd, SplitOptions, Splitter } from '../format/format.ts';
import type { FormatName } from '../format/format-kinds.ts';

/** Replaced by the bundler (rolldown.config.mjs) with a digest of the program. */
declare const PROGRAM_DIGEST: string;
/** A process that runs while another version replaces its files must not use that version's thread: both read the same bytes. */
export const PROGRAM_VERSION = typeof PROGRAM_DIGEST === 'undefined' ? 'not bundled' : PROGRAM_DIGEST;

/** How the documents of a feed are split. Plain data, which a worker thread receives. */
export interface SplittingOptions extends SplitOptions {
  readonly format: FormatName;
}

/** What a format may use of a document, besides its bytes. */
export interface DocumentFacts {
  /** The address that it was requested from. */
  readonly address: string | undefined;
  /** See `SourceDocument`. */
  readonly isElsewhere?: boolean | undefined;
  readonly time: ReadingTime;
}

/** Receives the bytes of one feed, document by document. */
export interface Splitting {
  /** Records of all documents so far. */
  readonly records: number;
  /** Why the current document needs no further bytes: it is not a feed, or is refused. */
  readonly refusal: string | undefined;
  /** Begins a document, for a format that uses these facts; for others, documents begin by themselves. */
  begin(facts: DocumentFacts): void;
  /** Splits the next bytes of the document, which may be reused afterwards. Throws what the sink throws. */
  push(chunk: Buffer): Promise<void>;
  /**
   * Ends the document; resolves when all of its records have been handed over. The next bytes begin another document.
   * @param isEndProven see {@link Splitter.finish}.
   */
  endDocument(isEndProven: boolean): Promise<SplitEnd>;
  /** Stops anything still running, whatever the outcome. */
  close(): Promise<void>;
}
