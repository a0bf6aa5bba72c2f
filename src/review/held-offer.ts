// What can be done about all held deletes of a feed: approved, or why not, and the question that has to be answered first.
import { conditionsOf, isAskedFirst } from '../plan/allowed.ts';
import { type Advice, type Message, messageOf, plural } from '../plan/message.ts';
import type { FeedName } from '../posting/identifiers.ts';
import { type QuestionedDeletes, questionedDeletes } from '../store/backlog/open-counts.ts';
import type { Queryable } from '../store/postgres/database.ts';
import { type BulkKind, operationOf } from '../store/review/bulk-actions.ts';
import type { EntryQuery } from '../store/review/found-entries.ts';
import { countSelected, questionedSelected } from '../store/review/review-totals.ts';
import { countActedOn, countRefused } from './entry-facts.ts';
import { type FeedsConfig, readConfiguredHere } from './health/configured-policy.ts';
import { sumOf } from './seen.ts';

/** The held deletes of a feed. */
export interface HeldOffer {
  readonly feed: FeedName;
  /** Of so many the approval would be possible, were nothing else in the way. */
  readonly approvable: number;
  /** Whether the keys of the feed have changed has to be answered before. */
  readonly inQuestion: boolean;
  /** Why some of them can't be approved: then none is, unless they are selected otherwise than by their feed. */
  readonly barred: readonly string[];
}

/** Of each feed with held deletes. */
export async function readHeldOffers(db: Queryable, config: FeedsConfig): Promise<ReadonlyMap<FeedName, HeldOffer>> {
  const counted = await countSelected(db, { kinds: ['held'] }, false);
  if (counted.length === 0) return new Map();
  const asked = new Set(deletesConcernedBy('approve', await questionedDeletes(db)).map(({ feed }) => feed));
  const where = { discarded: false, here: await readConfiguredHere(db, config) };
  const offers = new Map<FeedName, HeldOffer>();
  for (const feed of new Set(counted.map((each) => each.feed))) {
    const own = counted.filter((each) => each.feed === feed);
    const approvable = sumOf(countActedOn('approve', own, where));
    const barred = countRefused('approve', own, where).map(({ why }) => why);
    offers.set(feed, { feed, approvable, inQuestion: asked.has(feed), barred });
  }
  return offers;
}

/** Whether approving the feed by its name would approve what is held. */
export const canApprove = ({ approvable, inQuestion, barred }: HeldOffer): boolean =>
  approvable > 0 && !inQuestion && barred.length === 0;

/** What to do about them. */
export function adviceOnHeld(offer: HeldOffer): Advice {
  const { feed, approvable: count, inQuestion, barred } = offer;
  if (inQuestion) return { words: 'answer first whether the keys have changed', action: { kind: 'rekey_feed', feed } };
  if (canApprove(offer)) return { words: 'delete them', action: { kind: 'approve_held', feed, count } };
  const who = count === 0 ? "they can't" : 'not all of them can';
  return { words: `${who} be approved now${barred.length === 0 ? '' : `, as ${barred.join('; ')}`}` };
}

// What has to be answered before deletes are decided: whether their postings are in the feed under other keys.

/** Why nothing is done about these deletes, with what to do first; `undefined`: there are none. */
export function answerFirst(questioned: readonly QuestionedDeletes[]): Message | undefined {
  const [first] = questioned;
  if (first === undefined) return undefined;
  const feeds = [...new Set(questioned.map(({ feed }) => feed))];
  const n = sumOf(questioned);
  const of = feeds.length === 1 ? `feed ${feeds[0]}` : `feeds ${feeds.join(', ')}`;
  const text =
    `the keys of ${of} seem to have changed: ${plural(n, 'job')} of postings that are gone may belong to new ones, ` +
    'so their deletes can be neither approved nor discarded before that is answered. Nothing was done';
  return messageOf(
    text,
    feeds.map((feed) => ({ words: 'compare the postings first', action: { kind: 'rekey_feed', feed } as const })),
  );
}

/** The same for an action on what a query selects. */
export async function answerFirstAmong(
  db: Queryable,
  action: BulkKind,
  query: EntryQuery,
): Promise<Message | undefined> {
  return answerFirst(deletesConcernedBy(action, await questionedSelected(db, query)));
}

/** Those of the deletes that the action decides about. */
export function deletesConcernedBy(
  action: BulkKind,
  questioned: readonly QuestionedDeletes[],
): readonly QuestionedDeletes[] {
  const operation = operationOf(action);
  if (!isAskedFirst(operation)) return [];
  const { states } = conditionsOf(operation);
  return questioned.filter(({ kind }) => states.includes(kind));
}
