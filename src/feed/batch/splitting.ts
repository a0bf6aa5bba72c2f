// The words of splitting: what a feed's bytes are pushed into, wherever they are split.
import type { SplitEnd } from '../format/xml/xml-splitter.ts';

/** What one feed's bytes are pushed into. */
export interface Splitting {
  /** Records so far. */
  readonly records: number;
  /** Why reading must stop: this is no feed, or one that is refused. */
  readonly refusal: string | undefined;
  /** Takes the next bytes, which may be reused afterwards. Throws what the sink throws. */
  push(chunk: Buffer): Promise<void>;
  /** Ends the document; all of its records were handed over then. */
  finish(): Promise<SplitEnd>;
  /** Ends what is still running, whatever became of the feed. */
  close(): Promise<void>;
}
