// Decides what undoing a pull does about one posting: pure, from what the site had before and has now.
import type { Fields } from '../posting/posting.ts';

/** What the site had of the posting before the pull. */
export type StateBeforePull =
  | { readonly kind: 'absent' }
  | { readonly kind: 'present'; readonly fields: Fields; readonly contentHash: Buffer }
  /** The posting had a job whose content is not known, as that of a job that was imported. */
  | { readonly kind: 'unknown' };

/** A posting that the pull changed or wants to change. */
export interface UndoneSubject {
  readonly before: StateBeforePull;
  /** What the site last accepted; `undefined`: it has no job of the posting. */
  readonly actual:
    | {
        readonly contentHash: Buffer;
        /** An uncertain write may have changed the job. */
        readonly uncertain: boolean;
      }
    | undefined;
  /** The site has accepted a request of the pull for it. */
  readonly accepted: boolean;
  /**
   * The pull's create was in doubt, and this job was found for it: whether the pull has made it is not certain. Nothing else of the pull
   * was sent.
   */
  readonly foundInDoubt: boolean;
  /** A request is in flight or in doubt. */
  readonly attempting: boolean;
  /** Something else than the pull has changed the posting since, or wants to. */
  readonly changedSince: boolean;
}

/** Why a posting is left as it is. */
export type UndoLeftOut = 'changed_since' | 'content_unknown' | 'found_in_doubt';

export type UndoneStep =
  | { readonly kind: 'left_out'; readonly why: UndoLeftOut }
  /** The site is as it was: what the pull still wants is withdrawn. */
  | { readonly kind: 'withdraw' }
  | { readonly kind: 'delete' }
  | {
      readonly kind: 'restore';
      readonly operation: 'create' | 'update';
      readonly fields: Fields;
      readonly contentHash: Buffer;
    };

/**
 * The first line that applies:
 *
 * | changed since | the pull has sent    | before  | the site has now | step                       |
 * | ------------- | -------------------- | ------- | ---------------- | -------------------------- |
 * | yes           | any                  | any     | any              | left out: changed since    |
 * | no            | nothing              | any     | any              | withdraw                   |
 * | no            | a create, in doubt   | any     | a job found then | left out: found in doubt   |
 * | no            | any                  | unknown | any              | left out: content unknown  |
 * | no            | any                  | absent  | a job, or maybe  | delete                     |
 * | no            | any                  | absent  | none             | withdraw                   |
 * | no            | any                  | present | that, for sure   | withdraw                   |
 * | no            | any                  | present | anything else    | restore: update, or create |
 *
 * A request in flight or in doubt continues, and its outcome is undone: nobody can call it back.
 */
export function undoPosting(subject: UndoneSubject): UndoneStep {
  const { before, actual, accepted, foundInDoubt, attempting, changedSince } = subject;
  if (changedSince) return { kind: 'left_out', why: 'changed_since' };
  const sent = accepted || attempting || actual?.uncertain === true;
  if (!sent) return WITHDRAW;
  if (foundInDoubt) return { kind: 'left_out', why: 'found_in_doubt' };
  switch (before.kind) {
    case 'unknown':
      return { kind: 'left_out', why: 'content_unknown' };
    case 'absent':
      return actual !== undefined || attempting ? { kind: 'delete' } : WITHDRAW;
    case 'present': {
      const { fields, contentHash } = before;
      const isAsBefore = actual?.contentHash.equals(contentHash) === true && !actual.uncertain && !attempting;
      if (isAsBefore) return WITHDRAW;
      return { kind: 'restore', operation: actual === undefined ? 'create' : 'update', fields, contentHash };
    }
    default:
      return before satisfies never;
  }
}

const WITHDRAW = { kind: 'withdraw' } as const;

/** One request of the pull: the former values of what it changed. */
export interface FormerValues {
  /** Null for a field that the job did not have; undefined if not known. */
  readonly fields: Readonly<Record<string, string | null>> | undefined;
  /** Whether the job had no other values. */
  readonly whole: boolean;
}

/**
 * The content before the pull: takes its requests back, newest first. `undefined` if it is not known.
 * @param now what the site has now; `undefined`: nothing, or not known.
 */
export function contentBefore(requests: readonly FormerValues[], now: Fields | undefined): Fields | undefined {
  let content: Readonly<Record<string, string | null>> | undefined = now;
  for (const { fields, whole } of requests) {
    if (fields === undefined) return undefined;
    if (whole) content = fields;
    else if (content !== undefined) content = { ...content, ...fields };
  }
  if (content === undefined) return undefined;
  return Object.fromEntries(Object.entries(content).filter((entry): entry is [string, string] => entry[1] !== null));
}
