// Decides what an edit makes of an open change: its new fields and problems, or why it cannot be edited.
import type { Config, FeedConfig } from '../config/config.ts';
import { type CreateOnlyFields, createOnlyOf, problemsOfUpdate } from '../plan/create-only-fields.ts';
import type { Reason } from '../plan/desired-change.ts';
import type { Message } from '../plan/message.ts';
import type { FeedName } from '../posting/identifiers.ts';
import type { Fields, PostingReader } from '../posting/posting.ts';
import type { OpenChangeRow } from '../store/backlog/open-change.ts';
import type { Edited } from '../store/change/edit.ts';
import type { EditRow } from '../store/review/override.ts';
import { recompute } from './recompute.ts';
import { whyNot } from './why-not.ts';

export type EditPlan =
  | { readonly kind: 'planned'; readonly edited: Edited }
  | { readonly kind: 'refused'; readonly message: Message };

/** The feed of an entry to be edited, or why nothing of it can be. */
export function editableFeed(config: Config, name: FeedName): FeedConfig | string {
  if (config.brokenFeeds.has(name)) return `the configuration of feed ${name} is wrong: fix it first`;
  return config.feeds.get(name) ?? `feed ${name} is no longer configured, so nothing is sent for it`;
}

/** @param edits site field → its new text; an empty text removes the field */
export function planEdit(
  feed: FeedConfig,
  reader: PostingReader,
  change: OpenChangeRow | undefined,
  earlier: readonly EditRow[],
  edits: Fields,
): EditPlan {
  const obstacle = obstacleOf(change);
  if (change?.fields === undefined || obstacle !== undefined) return refused(obstacle ?? 'it is already resolved');
  const names = editableNames(feed, change);
  const strange = Object.keys(edits).filter((name) => !names.has(name));
  if (strange.length > 0) {
    const known = [...names].sort().join(', ');
    return refused(`feed ${feed.name} has no field ${strange.join(', ')}; fields: ${known}`);
  }
  const createOnly = change.operation === 'update' ? createOnlyOf(feed.mapping) : undefined;
  const left = Object.keys(edits).filter((name) => createOnly?.has(name) === true);
  if (left.length > 0) {
    return refused(
      `its job exists, and ${left.join(', ')} is set only on create (create_only_fields): change it on the site`,
    );
  }
  const problems = change.reason?.kind === 'rules' ? change.reason.problems : [];
  const edited = recompute(reader, { key: change.key, fields: change.fields, problems }, earlier, edits);
  if (edited === undefined) return refused('nothing would change: the posting already has these values');
  return { kind: 'planned', edited: { ...edited, reason: reasonOfUpdate(edited.reason, createOnly) } };
}

/** What keeps the change from being sent: not a field that it does not send. */
function reasonOfUpdate(reason: Reason | undefined, createOnly: CreateOnlyFields): Reason | undefined {
  if (reason === undefined || createOnly === undefined) return reason;
  const problems = problemsOfUpdate(reason.problems, createOnly);
  if (problems.length === 0) return undefined;
  return { ...reason, problems, message: problems.map(({ message }) => message).join('; ') };
}

/** Why the entry cannot be edited, if it cannot. */
function obstacleOf(change: OpenChangeRow | undefined): Message | undefined {
  if (change === undefined) return undefined;
  if (change.state !== 'rejected' && change.state !== 'failed') {
    return whyNot('retry', { ...change, reason: null });
  }
  return change.desired === 'absent' ? 'it is a delete, which has no fields' : undefined;
}

/** Fields that a posting of the feed can have: those of the mapping, of the site, and of the reported problems. */
export function editableNames({ mapping }: FeedConfig, change: OpenChangeRow): Set<string> {
  return new Set([
    ...Object.keys(mapping.fields),
    mapping.stateField.name,
    ...mapping.requiredFields,
    ...Object.keys(mapping.maxLengths),
    ...Object.keys(change.fields ?? {}),
    ...(change.reason?.problems ?? []).flatMap(({ field }) => field ?? []),
  ]);
}

const refused = (message: Message): EditPlan => ({ kind: 'refused', message });
