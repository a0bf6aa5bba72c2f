// Types of the plan: what is known about a posting, its desired state, and the change that the pull makes of the two.
import type { FieldMapping } from '../posting/field-mapping.ts';
import type { PostingKey, PostingRef, SiteJobId } from '../posting/identifiers.ts';
import type { Fields, Problem } from '../posting/posting.ts';
import { type Advice, type Message, messageOf } from './message.ts';

/** Why a change is in its state, for people: one sentence and every problem behind it. */
export interface Reason {
  /**
   * `rules`: rejected by the site's rules before sending; `guard`: too many deletes; otherwise the last outcome's kind.
   */
  readonly kind: string;
  readonly message: string;
  /** What a person can do about it, besides the actions that the state allows. */
  readonly next?: readonly Advice[];
  readonly problems: readonly Problem[];
  /** For a held delete: the sources of the feed that had postings and have none. */
  readonly sources?: readonly string[];
  /** For an update or delete that waits until the list tells whether the site has the job: see `Attempt`. */
  readonly denied?: string;
  /** For a create or update: what the site said when it refused the reference because a job has it. Sent again once a job of ours frees it; empty: it is free. */
  readonly taken?: readonly Problem[];
  /** With `taken`, if not the reference: the fields whose values together another job seems to have. */
  readonly takenBy?: readonly string[];
  /** What is compared of these values. */
  readonly takenForm?: string;
  /** For a create in doubt: the job to which the site redirected it, which it did not show. */
  readonly made?: SiteJobId | undefined;
  /** The same: the result of the last list check, if it did not resolve the doubt. */
  readonly note?: string;
  /** The same: IDs of the jobs on the site that it may have made. */
  readonly candidates?: readonly string[];
  /** The same: there are more of them. */
  readonly crowded?: boolean;
  /** For a create that was not sent, as a job was found for it: what the two share. */
  readonly by?: 'reference' | 'content';
  /** The same: why its newest version is held or rejected once the doubt has ended. */
  readonly target?: Reason;
}

/** Why a create or update is rejected whose values in these fields a job seems to have. */
export const reasonOfTakenFields = (
  problems: readonly Problem[],
  takenBy: readonly string[],
  fields: Fields = {},
): Reason => ({
  kind: 'rejected',
  problems,
  taken: problems,
  takenBy,
  takenForm: takenBy.map((name) => takenForm(fields[name] ?? '')).join(' '),
  message: `${problemsInOneSentence(problems)}; it is sent again once a job of ours with the same ${takenBy.join(', ')} is deleted or changed`,
});

/** Equal for values that sites take for one, such as in the address that they make of a title. */
export const takenForm = (value: string): string => value.toLowerCase().replace(/<[^>]*>|&#?\w+;|[^\p{L}\p{N}]+/gu, '');

/** Why a create or update is rejected whose reference a job has. @param whose the job that has it, if it is known */
export function reasonOfTaken(
  { feed, key, request }: PostingRef & { readonly request: { readonly kind: 'create' | 'update' | 'delete' } },
  problems: readonly Problem[],
  whose?: string,
): Reason & Pick<Required<Reason>, 'taken'> {
  const said = problemsInOneSentence(problems);
  const again = 'it is sent again once that job is deleted or gets another one';
  const reason = { kind: 'rejected', problems, taken: problems };
  if (whose !== undefined) return { ...reason, message: `${said}; ${whose} has the reference: ${again}` };
  const message = `${said}; which job has the reference is not known. If it is one of ours, ${again}`;
  if (request.kind !== 'create') return { ...reason, message };
  return {
    ...reason,
    message,
    next: [{ words: "If it is this posting's own", action: { kind: 'adopt_jobs', feed, key } }],
  };
}

/** All problems in one sentence. */
export const problemsInOneSentence = (problems: readonly Problem[]): string =>
  problems.map(({ field, message }) => (field === undefined ? message : `${field}: ${message}`)).join('; ');

/** Whether a create is in doubt because a job was found for it on the site: nothing was sent. */
export const isOfFoundJob = (reason: Reason | undefined): boolean =>
  reason?.kind === 'found_on_site' || reason?.kind === 'resembles_on_site';

/** The message of a reason, with its advice. */
export const messageOfReason = ({ message, next }: Pick<Reason, 'message' | 'next'>): Message =>
  messageOf(message, next);

/** The stored mapping of a posting, with hashes of what the site last accepted. */
export interface Mapping {
  readonly key: PostingKey;
  readonly siteJobId: SiteJobId;
  readonly recordHash: Buffer;
  readonly contentHash: Buffer;
  /** Consecutive complete pulls in which the posting was missing. */
  readonly missingPulls: number;
}

/** The open change of a posting, reduced to what planning needs. */
export interface OpenChange {
  readonly key: PostingKey;
  readonly desired: 'present' | 'absent';
  readonly recordHash: Buffer | undefined;
  readonly contentHash: Buffer | undefined;
  /** The desired fields broke the site's rules when the change was planned. */
  readonly invalid: boolean;
  /** The posting is missing from the feed and still in its grace period. */
  readonly missing: boolean;
}

/** The state of a change while no request is in flight for it. */
export type TargetState = 'ready' | 'held' | 'rejected';

/** The desired state of one posting now. It replaces any earlier one (law 5). */
export type DesiredChange<Content = Fields> =
  | {
      readonly desired: 'present';
      readonly key: PostingKey;
      readonly operation: 'create' | 'update';
      readonly fields: Content;
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

// Fields that a feed sets only when it creates a job (`create_only_fields`): afterwards they are left to the site.

/** Names of fields; `undefined`: none. */
export type CreateOnlyFields = ReadonlySet<string> | undefined;

export const createOnlyOf = ({ createOnly }: Pick<FieldMapping, 'createOnly'>): CreateOnlyFields =>
  createOnly === undefined ? undefined : new Set(createOnly);

/** The fields that an update may set. */
export function updatableFields(fields: Fields, createOnly: CreateOnlyFields): Fields {
  if (createOnly === undefined) return fields;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !createOnly.has(name)));
}

/** What a job has once it accepts an update: fields that are set only on create keep the value that was last sent, if any. */
export function acceptedByUpdate(desired: Fields, before: Fields = {}, createOnly: CreateOnlyFields): Fields {
  if (createOnly === undefined) return desired;
  const kept = Object.entries(before).filter(([name]) => createOnly.has(name));
  return { ...updatableFields(desired, createOnly), ...Object.fromEntries(kept) };
}

/** The problems that keep a posting with a job from being updated: those of fields that are set only on create do not. */
export function problemsOfUpdate(problems: readonly Problem[], createOnly: CreateOnlyFields): readonly Problem[] {
  if (createOnly === undefined) return problems;
  return problems.filter(({ field }) => field === undefined || !createOnly.has(field));
}
