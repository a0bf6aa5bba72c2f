// What opening a source comes to: a stream of bytes with what is known of it, or the reason why there is none.
import type { Validators } from '../feed-reading.ts';

/** Opening a source, before any byte of it is judged. */
export type OpenedSource =
  | { readonly kind: 'body'; readonly body: SourceBody }
  | { readonly kind: 'not_modified' }
  | { readonly kind: 'failed'; readonly message: string };

export interface SourceBody {
  /**
   * The bytes as stored or sent, perhaps compressed. A chunk is valid until the next is asked for. Ends only where the
   * source is proven to have ended as promised; throws {@link BrokenOff} otherwise.
   */
  readonly chunks: AsyncIterable<Buffer>;
  /** Character encoding according to the transport. */
  readonly charset?: string;
  readonly validators: Validators;
  /** Bytes of the whole body, compressed as it is, where the source says it. */
  readonly totalBytes?: number;
}

/** Thrown where a feed can't be read any further: the message says why, as a phrase for people. */
export class BrokenOff extends Error {}

/** The message of whatever was thrown, for people. */
export const reasonOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
};
