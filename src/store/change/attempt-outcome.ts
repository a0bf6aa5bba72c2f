// The words of settling: what an attempt came to, as far as the books are concerned.
import type { Reason } from '../../plan/desired-change.ts';
import type { SiteJobId } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import type { Attempt } from './attempt.ts';

/**
 * What becomes of a change whose attempt did not succeed. `mayLandMs`: an update or delete that may have been done all
 * the same, or may still be, so long after it was begun.
 */
export type Return =
  /** Back to the backlog, not before `delayMs` from now. `counted`: it uses up one of the attempts. */
  | {
      readonly to: 'ready';
      readonly delayMs: number;
      readonly counted: boolean;
      readonly reason: Reason;
      readonly mayLandMs?: number;
    }
  /** A create whose outcome is unknown. */
  | { readonly to: 'in_doubt'; readonly reason: Reason }
  /** Waits for the source, or for a person. */
  | { readonly to: 'rejected' | 'failed'; readonly reason: Reason; readonly mayLandMs?: number };

export type Result =
  | {
      readonly kind: 'created';
      readonly siteJobId: SiteJobId;
      readonly url: string | undefined;
      /** What tells whose job it is, where another posting has its ID already. */
      readonly evidence?: Evidence;
      /** An existing job that a posting in doubt takes over, with what the site shows of it. */
      readonly adopted?: AdoptedContent;
    }
  | { readonly kind: 'updated' }
  | { readonly kind: 'deleted' }
  /** The job shows the reference of another posting: the mapping goes, and a person says which job is this posting's. */
  | { readonly kind: 'disowned'; readonly reason: Reason }
  /** The job of an update is not on the site any more: the mapping goes, the wish stays and becomes a create. */
  | { readonly kind: 'vanished' }
  | { readonly kind: 'returned'; readonly back: Return };

/** What the site shows of the job that a create was answered with. */
export interface Evidence {
  readonly shown: Fields | undefined;
  readonly referenceField: string | undefined;
  /** The show action was asked already, so this is all that is to be had. */
  readonly asked: boolean;
  /** How long a request that is under way may still reach the job. */
  readonly mayLandMs: number;
}

export interface AdoptedContent {
  readonly fields: Fields;
  /** Fields in which the job is not, or may not be, as it should: they are set by the next update. */
  readonly uncertain: readonly string[];
}

/** One attempt and its result, with the exchange as it is written down; absent where nothing was sent. */
export interface AttemptOutcome {
  readonly attempt: Attempt;
  readonly result: Result;
  readonly record: ExchangeRecord | undefined;
}

/** What was sent and received, the token removed. Failed exchanges are kept whole, accepted ones in short. */
export interface ExchangeRecord {
  readonly outcome: string;
  readonly status: number | undefined;
  readonly durationMs: number;
  readonly request: unknown;
  readonly response: unknown;
}

/** How a settlement was taken. */
export type Recorded =
  /** As given. */
  | 'recorded'
  /** The site's new job belongs to another posting already; the change failed, for a person. */
  | 'owned_elsewhere'
  /** Another posting has the ID of the site's new job, and nothing tells yet whose job it is: nothing was recorded. */
  | 'disputed'
  /** The answer contradicts what is known: the create is in doubt. */
  | 'in_doubt'
  /** The attempt was not open any more; a job that it made after all is noted as a stray, to be deleted. */
  | 'superseded';
