// Decides what an edit makes of a posting: its new fields and problems, or why it cannot be edited; computes the posting of a change.
import type { Config, FeedConfig } from '../config/config.ts';
import { MISSING_FROM_FEED, SOURCE_UNKNOWN, whyNotAllowed, whyNotEdited } from '../plan/allowed.ts';
import { type CreateOnlyFields, createOnlyOf, problemsOfUpdate, type Reason } from '../plan/desired-change.ts';
import { type Message, messageOf } from '../plan/message.ts';
import { updatesJobs } from '../plan/policy.ts';
import { contentHash } from '../posting/hash.ts';
import { didYouMean } from '../posting/id-and-name.ts';
import type { FeedName, PostingKey } from '../posting/identifiers.ts';
import type { Fields, PostingReader, Problem } from '../posting/posting.ts';
import type { Edited, EditRow } from '../store/change/edit.ts';
import type { OpenChangeRow } from '../store/change/open-change.ts';
import { isSourceUnknown } from '../store/pull/record-hashes.ts';
import type { PostingStory } from '../store/review/posting-history.ts';
import { factsOfChange } from './entry-facts.ts';
import { configuredHere } from './health/configured-policy.ts';

export type EditPlan =
  | { readonly kind: 'planned'; readonly edited: Edited }
  | { readonly kind: 'refused'; readonly message: Message };

/** What an edit starts from: what an open change is to send, or what the job of a posting without one has. */
export interface EditBase extends Pick<OpenChangeRow, 'key' | 'operation' | 'reason'> {
  readonly fields: Fields;
  /** The field that its job is recognised by: it stays as it is. */
  readonly reference?: string | undefined;
}

/** The parts of a posting that determine whether it can be edited, and what an edit starts from. */
export type EditablePosting = Pick<PostingStory, 'feed' | 'key' | 'change' | 'live' | 'expiry'>;

/** The feed of a posting to be edited, or why nothing of it can be. */
export function editableFeed(config: Config, name: FeedName): FeedConfig | string {
  if (config.brokenFeeds.has(name)) return `the configuration of feed ${name} is wrong: fix it first`;
  return config.feeds.get(name) ?? `feed ${name} is no longer configured, so nothing is sent for it`;
}

/** Edits a review entry. @param edits site field → its new text; an empty text removes the field */
export function planEdit(
  config: Config,
  feed: FeedConfig,
  reader: PostingReader,
  change: OpenChangeRow | undefined,
  earlier: readonly EditRow[],
  edits: Fields,
): EditPlan {
  const obstacle = change && whyNotAllowed('edit', factsOfChange(change, configuredHere(config)));
  if (change?.fields === undefined || obstacle !== undefined) return refused(obstacle ?? RESOLVED);
  return planEditOf(feed, reader, baseOf(config, feed, { ...change, fields: change.fields }), earlier, edits);
}

/** @param edits as for {@link planEdit} */
export function planEditOf(
  feed: FeedConfig,
  reader: PostingReader,
  base: EditBase,
  earlier: readonly EditRow[],
  edits: Fields,
): EditPlan {
  const createOnly = createOnlyIn(feed, base);
  const names = editableNames(feed, base);
  const strange = Object.keys(edits).filter(
    (name) => !names.has(name) && createOnly?.has(name) !== true && name !== base.reference,
  );
  if (strange.length > 0) {
    const known = [...names].sort().join(', ');
    const meant = strange.length === 1 ? didYouMean(strange.join(), [...names]) : '';
    return refused(`feed ${feed.name} has no field ${strange.join(', ')}; fields: ${known}${meant}`);
  }
  const left = Object.keys(edits).filter((name) => createOnly?.has(name) === true);
  if (left.length > 0) {
    return refused(
      `its job exists, and ${left.join(', ')} is set only on create (create_only_fields): change it on the site`,
    );
  }
  const { key, fields, reason, reference } = base;
  if (reference !== undefined && Object.hasOwn(edits, reference)) {
    return refused(`its job is recognised by ${reference} (the reference_field of the site), which stays as it is`);
  }
  const problems = reason?.kind === 'rules' ? reason.problems : [];
  const edited = recompute(reader, { key, fields, problems }, earlier, edits);
  if (edited === undefined) return refused('nothing would change: the posting already has these values');
  return { kind: 'planned', edited: { ...edited, reason: reasonOfUpdate(edited.reason, createOnly) } };
}

/** What keeps the change from being sent: not a field that it does not send. */
function reasonOfUpdate(reason: Reason | undefined, createOnly: CreateOnlyFields): Reason | undefined {
  if (reason === undefined || createOnly === undefined) return reason;
  const problems = problemsOfUpdate(reason.problems, createOnly);
  if (problems.length === 0) return undefined;
  return { ...reason, problems, message: sentence(problems) };
}

const RESOLVED = 'it is already resolved';

/** An edit lasts until the source changes the field, so what the source has must be known. */
const obstacleOfSource = ({ key, recordHash }: Pick<OpenChangeRow, 'key' | 'recordHash'>): Message | undefined =>
  recordHash === undefined || isSourceUnknown(recordHash, key) ? SOURCE_UNKNOWN : undefined;

/** What an edit of the posting would start from, or why it cannot be edited now. */
export function editableIn(config: Config, posting: EditablePosting) {
  const feed = editableFeed(config, posting.feed);
  return typeof feed === 'string' ? refused(feed) : editBase(config, feed, posting);
}

/** The same for a posting of the feed. */
export function editBase(config: Config, feed: FeedConfig, posting: EditablePosting) {
  const { feed: name, key, change, live, expiry } = posting;
  if (change !== undefined) {
    const obstacle = whyNotEdited(factsOfChange(change, configuredHere(config)));
    if (obstacle !== undefined) return refused(obstacle);
    if (change.fields === undefined) return refused(RESOLVED);
    return editable(feed, baseOf(config, feed, { ...change, fields: change.fields }));
  }
  if (live === undefined) return refused('it has no job, and nothing of it waits to be sent');
  if (live.site !== feed.siteName)
    return refused(`its job is on site ${live.site}, and the feed is configured for site ${feed.siteName} now`);
  if (!updatesJobs(feed.policy)) {
    return refused("its job exists, and the feed's policy is create_only: change it on the site");
  }
  if (live.missingPulls > 0) return refused(MISSING_FROM_FEED);
  if (expiry?.expiredAt !== undefined) {
    return refused(
      messageOf('its time on the site has ended', [
        { words: 'to start it anew', action: { kind: 'renew_posting', feed: name, key } },
      ]),
    );
  }
  const obstacle = obstacleOfSource({ key, recordHash: live.fields && live.recordHash });
  if (obstacle !== undefined || live.fields === undefined) return refused(obstacle ?? RESOLVED);
  return editable(feed, baseOf(config, feed, { key, operation: 'update', reason: undefined, fields: live.fields }));
}

/** The job of an update is recognised by its reference. */
const baseOf = (config: Config, { siteName }: FeedConfig, base: Omit<EditBase, 'reference'>): EditBase => ({
  ...base,
  reference: base.operation === 'update' ? config.sites.get(siteName)?.options.referenceField : undefined,
});

const editable = (feed: FeedConfig, base: EditBase) =>
  ({ kind: 'editable', base, names: editableNames(feed, base) }) as const;

/** The fields of the feed that the edited change leaves to the site. */
const createOnlyIn = ({ mapping }: FeedConfig, { operation }: Pick<EditBase, 'operation'>): CreateOnlyFields =>
  operation === 'update' ? createOnlyOf(mapping) : undefined;

/** Fields that can be set: those of the mapping, of the site, and of the reported problems, except those that an update leaves out. */
function editableNames(feed: FeedConfig, base: EditBase): Set<string> {
  const { mapping } = feed;
  const createOnly = createOnlyIn(feed, base);
  const names = [
    ...Object.keys(mapping.fields),
    mapping.stateField.name,
    ...mapping.requiredFields,
    ...Object.keys(mapping.maxLengths),
    ...Object.keys(base.fields),
    ...(base.reason?.problems ?? []).flatMap(({ field }) => field ?? []),
  ];
  return new Set(names.filter((name) => createOnly?.has(name) !== true && name !== base.reference));
}

const refused = (message: Message) => ({ kind: 'refused', message }) as const;

// Computes the desired posting from an open change, earlier edits and new ones.

/** The desired state that an edit starts from. */
export interface DesiredPosting {
  readonly key: PostingKey;
  readonly fields: Fields;
  /** Why it breaks the site's rules, if it does. */
  readonly problems?: readonly Problem[];
}

/**
 * Applies edits to the desired state. Earlier edits that still hold are kept, with the source value they replaced; an
 * edit is dropped if the source has changed the field since, or if it restores the source value. `undefined`: nothing
 * would change.
 */
function recompute(
  reader: PostingReader,
  desired: DesiredPosting,
  earlier: readonly EditRow[],
  edits: Fields,
): Edited | undefined {
  const { key, fields, problems = [] } = desired;
  const holding = editsThatHold(reader, desired, earlier);
  const source = sourceOf(fields, holding);
  const all = { ...Object.fromEntries(holding.map((edit) => [edit.field, edit.value])), ...edits };
  const result = reader.withFields({ key, fields: source, contentHash: contentHash(source), notes: [] }, all, problems);
  if (result.posting.contentHash.equals(contentHash(fields))) return undefined;
  return {
    posting: result.posting,
    reason:
      result.kind === 'posting'
        ? undefined
        : { kind: 'rules', message: sentence(result.problems), problems: result.problems },
    source,
    edits: Object.fromEntries(Object.entries(all).filter(([field, value]) => value !== (fieldOf(source, field) ?? ''))),
  };
}

/** An edit holds if applying it again changes nothing: otherwise the source has changed the field since. */
export function editsThatHold(
  reader: PostingReader,
  { key, fields }: DesiredPosting,
  earlier: readonly EditRow[],
): EditRow[] {
  const again = Object.fromEntries(earlier.map((edit) => [edit.field, edit.value]));
  const { posting } = reader.withFields({ key, fields, contentHash: contentHash(fields), notes: [] }, again);
  return earlier.filter(({ field }) => fieldOf(posting.fields, field) === fieldOf(fields, field));
}

/** The fields as the feed has them, with the edits undone. */
function sourceOf(fields: Fields, edits: readonly EditRow[]): Fields {
  const source = new Map(Object.entries(fields));
  for (const { field, sourceValue } of edits) {
    if (sourceValue === null) source.delete(field);
    else source.set(field, sourceValue);
  }
  return Object.fromEntries(source);
}

const fieldOf = (fields: Fields, name: string): string | undefined =>
  Object.hasOwn(fields, name) ? fields[name] : undefined;

const sentence = (problems: readonly Problem[]): string => problems.map(({ message }) => message).join('; ');
