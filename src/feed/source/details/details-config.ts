// How the detail of a posting is requested and read, where the list of a feed does not have all of it.
import type { RetryPolicy } from '../../../flow/retry-policy.ts';
import type { ScriptRule } from '../../format/format.ts';
import type { FormatName } from '../../format/formats.ts';
import type { ReadingClock } from '../../reading-clock.ts';
import type { FetchLimits } from '../pages/fetch-limits.ts';

export interface DetailsConfig {
  readonly request: DetailRequestTemplate;
  readonly document: DetailDocument;
  /** The name under which the mapping finds the detail in the record. */
  readonly name: string;
  /** The text at a path in the detail must be the one at a path in the record of the list. */
  readonly match: readonly { readonly detail: string; readonly record: string }[];
  /** Paths in the record of the list; a change there alone requests no detail. */
  readonly ignore: readonly string[];
  /** How many are requested at a time. */
  readonly concurrency: number;
  /** A detail is requested again within this time, even if the list did not change; absent: never. */
  readonly refreshMs?: number;
  /** Of pages and details together. */
  readonly requestsPerSecond: number;
  readonly limits: FetchLimits;
  readonly retry: RetryPolicy;
  /** Of all requests of a pull together; those that are left wait for the next pull. */
  readonly totalTimeoutMs: number;
}

/** Placeholders: `{path}` is escaped, `{+path}` keeps what has a meaning in addresses, `{source:name}` is a parameter of the list's address. */
export interface DetailRequestTemplate {
  /** Relative to the address of the list, at whose origin it must be. */
  readonly url: string;
  /** JSON that is sent with POST; absent: GET. */
  readonly body?: unknown;
  /** Media types for the `Accept` header. */
  readonly accept: string;
}

/** How the document of a detail is read. */
export interface DetailDocument {
  readonly format: FormatName;
  /** Path of the only record from the root; empty: the JSON document itself. */
  readonly recordPath: string;
  readonly encoding?: string;
  readonly lenient: boolean;
  /** For HTML: the script that holds the record. */
  readonly script?: ScriptRule;
  /** For JSON-LD: a page without a posting is no failure. */
  readonly acceptsEmptyPages?: boolean;
  /** That of the pull. */
  readonly clock?: ReadingClock;
}
