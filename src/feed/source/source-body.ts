// The result of opening a source: a byte stream with its metadata, or the reason why it failed.
/** The result of opening a source, before its content is checked. */
export type OpenedSource =
  | { readonly kind: 'body'; readonly body: SourceBody }
  | { readonly kind: 'not_modified' }
  | { readonly kind: 'failed'; readonly message: string };

export interface SourceBody {
  /**
   * The bytes as stored or sent, perhaps compressed. A chunk is valid until the next one is requested. Ends only if the
   * source is proven to have ended properly; throws {@link BrokenOff} otherwise.
   */
  readonly chunks: AsyncIterable<Buffer>;
  /** Character encoding according to the transport. */
  readonly charset?: string;
  /** Identifies this version of the source, for its next opening. Only the kind of source that made it can read it. */
  readonly version?: string;
  /** Size of the whole body as stored or sent, if the source declares it. */
  readonly totalBytes?: number;
}

/** Thrown when a feed can't be read any further. The message says why, for people. */
export class BrokenOff extends Error {}

/** The message of any thrown value, for people. */
export const reasonOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
};
