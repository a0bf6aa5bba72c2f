// The words of the plan: what is known of a posting, what the feed wishes for it, and what the pull does about it.
import type { PostingKey, SiteJobId } from '../posting/identifiers.ts';
import type { KeptFields, Problem } from '../posting/posting.ts';

/** Why a change is where it is, for people: one sentence, and every single problem behind it. */
export interface Reason {
  /** `rules`: found here before sending; `guard`: too many deletes; otherwise the kind of the last outcome. */
  readonly kind: string;
  readonly message: string;
  readonly problems: readonly Problem[];
  /** Of a doubt: what the last look for its job came to, where it settled nothing. */
  readonly note?: string;
}

/** What the site is known to have for a posting: the mapping, with the hashes of what was last accepted. */
export interface Mapping {
  readonly key: PostingKey;
  readonly siteJobId: SiteJobId;
  readonly recordHash: Buffer;
  readonly contentHash: Buffer;
  /** Pulls in a row, complete ones, in which the posting was missing. */
  readonly missingPulls: number;
}

/** A change that is still open for a posting, as far as planning needs it. */
export interface OpenChange {
  readonly key: PostingKey;
  readonly desired: 'present' | 'absent';
  readonly recordHash: Buffer | undefined;
  readonly contentHash: Buffer | undefined;
  /** The wish breaks the site's rules as they were known when it was made. */
  readonly invalid: boolean;
  /** The posting went missing, and its grace is not over. */
  readonly missing: boolean;
}

/** Where a wish rests while nothing is in flight for it. */
export type TargetState = 'ready' | 'held' | 'rejected';

/** What the feed wishes for one posting now. It replaces any earlier wish (law 5). */
export type DesiredChange =
  | {
      readonly desired: 'present';
      readonly key: PostingKey;
      readonly operation: 'create' | 'update';
      readonly fields: KeptFields;
      readonly recordHash: Buffer;
      readonly contentHash: Buffer;
      readonly target: TargetState;
      readonly reason?: Reason;
    }
  | {
      readonly desired: 'absent';
      readonly key: PostingKey;
      readonly operation: 'delete';
      readonly target: TargetState;
      readonly reason?: Reason;
    };
