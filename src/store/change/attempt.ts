// Types of attempts: a posting, the one request that may be sent for it under a token, and its result as the database sees it.
import type { CreateOnlyFields } from '../../plan/create-only-fields.ts';
import type { Reason } from '../../plan/desired-change.ts';
import type { NextRequest } from '../../plan/next-request.ts';
import type { StatedTypes } from '../../plan/same-meaning.ts';
import type { ShownForms } from '../../plan/shown-forms.ts';
import type { PostingRef, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';

/** One string for feed and key; feed names contain no space. */
export const idOf = (posting: PostingRef): string => `${posting.feed} ${posting.key}`;

/** A committed intent: exactly this request may be sent now, once, under this token. */
export interface Attempt extends PostingRef {
  readonly site: SiteName;
  readonly token: string;
  /** Which attempt of this version it is, from 1. */
  readonly number: number;
  readonly pull: number | undefined;
  readonly revision: number;
  readonly request: Exclude<NextRequest, { kind: 'none' }>;
  /** What the site has once it accepts the request; undefined for a delete. */
  readonly accepted: { readonly fields: Fields; readonly recordHash: Buffer; readonly contentHash: Buffer } | undefined;
  /** Fields that an update leaves to the site. */
  readonly createOnly?: CreateOnlyFields;
  /** What the site had before, if known. */
  readonly before?: Fields;
  /** What the site is known to show of that. */
  readonly forms?: ShownForms;
  /** It sets again what was found different on the site: what the site shows of it afterwards is its form. */
  readonly isRepair?: boolean;
  /** The site has reused IDs, or may have done so for a create in doubt: the job may belong to another posting by now. */
  readonly idMayBeReused?: boolean;
  /** A list has shown an earlier create of the posting as not made. */
  readonly wasDoubted?: boolean;
  /** A person approved this delete, so the guard does not count it. */
  readonly approved: boolean;
}

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
