// Types for recording attempts: the result of an attempt as the database sees it.
import type { Reason } from '../../plan/desired-change.ts';
import type { StatedTypes } from '../../plan/same-meaning.ts';
import type { ShownForms } from '../../plan/shown-forms.ts';
import type { SiteJobId } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import type { Attempt } from './attempt.ts';

/**
 * Where a change goes whose attempt did not succeed. `mayLandMs`: the outcome of the update or delete is uncertain, and it
 * may still take effect until that long after its start.
 */
export type NotAccepted =
  /** Back to the backlog, not before `delayMs` from now. `counted`: it uses up one attempt. */
  | {
      readonly to: 'ready';
      readonly delayMs: number;
      readonly counted: boolean;
      readonly reason: Reason;
      readonly mayLandMs?: number;
    }
  /** A create whose outcome is unknown. */
  | { readonly to: 'in_doubt'; readonly reason: Reason }
  /** Waits for a new version from the feed, or for a person. */
  | { readonly to: 'rejected' | 'failed'; readonly reason: Reason; readonly mayLandMs?: number };

export type Result =
  | {
      readonly kind: 'created';
      readonly siteJobId: SiteJobId;
      readonly url: string | undefined;
      /** Tells which posting owns the job if another posting already has its ID. */
      readonly evidence?: Evidence;
      /** An existing job that a posting in doubt adopts, with what the site shows of it. */
      readonly adopted?: AdoptedContent;
    }
  | { readonly kind: 'updated' }
  /** `isOthers`: whichever job has the ID now is another posting's, and was left alone; absent: the job is gone. */
  | { readonly kind: 'deleted'; readonly isOthers?: true }
  /** The job shows another posting's reference: the mapping is removed, and a person decides which job is this posting's. */
  | { readonly kind: 'disowned'; readonly reason: Reason }
  /** The job of an update no longer exists on the site: the mapping is removed, and the change becomes a create. */
  | { readonly kind: 'vanished' }
  | { readonly kind: 'returned'; readonly back: NotAccepted };

/** What the site shows of the job whose ID it returned for a create. */
export interface Evidence {
  readonly shown: Fields | undefined;
  /** What the site states about the values that it shows. */
  readonly types?: StatedTypes | undefined;
  readonly referenceField: string | undefined;
  /** The show action was already called, so no more evidence can be had. */
  readonly asked: boolean;
  /** How long a request in flight may still reach the job. */
  readonly mayLandMs: number;
}

export interface AdoptedContent {
  readonly fields: Fields;
  /** Fields of the job that differ, or may differ, from the desired ones; the next update sets them. */
  readonly uncertain: readonly string[];
  /** What the site is known to show of the fields; absent: nothing. */
  readonly forms?: ShownForms;
}

/** One attempt and its result, with the exchange to record; `undefined` if nothing was sent. */
export interface AttemptOutcome {
  readonly attempt: Attempt;
  readonly result: Result;
  readonly record: ExchangeRecord | undefined;
  /** What the site is known to show after an accepted create or update that was sent. */
  readonly forms?: ShownForms;
}

/** What was sent and received, with the token removed. Failed exchanges are stored whole, accepted ones in brief. */
export interface ExchangeRecord {
  readonly outcome: string;
  readonly status: number | undefined;
  readonly durationMs: number;
  readonly request: unknown;
  readonly response: unknown;
}

/** How an outcome was recorded. */
export type Recorded =
  /** As given. */
  | 'recorded'
  /** The site's new job already belongs to another posting; the change failed and needs a person. */
  | 'owned_elsewhere'
  /** Another posting has the ID of the site's new job, and the owner is not known yet: nothing was recorded. */
  | 'disputed'
  /** The response contradicts what is known: the create is in doubt. */
  | 'in_doubt'
  /** The attempt was no longer open; a job that it made is recorded as an orphan, to be deleted. */
  | 'superseded';
