// What can be decided about many entries at once: of those that a query selects, exactly those that each action would act on.
import type { FeedName } from '../../posting/identifiers.ts';
import type { SelectedCount } from '../../store/change/act-in-review.ts';
import type { Database } from '../../store/postgres/database.ts';
import { SELECTED_ACTIONS, type SelectedAction } from '../../store/review/bulk-actions.ts';
import { type EntryQuery, isCountCut, isCounted } from '../../store/review/found-entries.ts';
import { countSelected, questionedSelected } from '../../store/review/review-totals.ts';
import type { LeftAlone } from '../describe-selected.ts';
import { countActedOn, countRefused } from '../entry-facts.ts';
import { type FeedsConfig, readConfiguredHere } from '../health/configured-policy.ts';
import { deletesConcernedBy } from '../held-offer.ts';
import { sumOf, tokenOf } from '../seen.ts';
import { countNow } from './start-bulk.ts';

/** What one action would do with the selection. */
export interface SelectionOffer {
  readonly count: number;
  /** Of exactly these; `undefined`: none, or they are too many to be compared one by one. */
  readonly seen: string | undefined;
  /** Entries of the right kind that it would leave as they are, with the reason. */
  readonly barred: readonly LeftAlone[];
  /** The same for the entries of each feed. */
  readonly byFeed: readonly (Pick<SelectionOffer, 'count' | 'seen'> & { readonly feed: FeedName })[];
}

export interface SelectionOffers {
  readonly total: number;
  /** More entries match the text than were counted: nothing can be decided about all of them. */
  readonly more: boolean;
  /** Feeds with deletes among them that wait until somebody has answered whether the keys have changed. */
  readonly inQuestion: readonly FeedName[];
  readonly of: Readonly<Record<SelectedAction, SelectionOffer>>;
}

/** Of more entries than have counts, reading each one's revision would take longer than a page may. */
const MOST_MARKED = 5_000;
const NONE: SelectionOffer = { count: 0, seen: undefined, barred: [], byFeed: [] };

export async function offersFor(
  { db, config }: { readonly db: Database; readonly config: FeedsConfig },
  query: EntryQuery,
): Promise<SelectionOffers> {
  const discarded = query.discarded === true;
  const read = await countSelected(db, query, false);
  const isMarked = isCounted(query) || sumOf(read) <= MOST_MARKED;
  const counted = isMarked ? await countNow(db, query) : read;
  const questioned = discarded ? [] : await questionedSelected(db, query);
  const where = { discarded, here: await readConfiguredHere(db, config) };
  const offer = (action: SelectedAction): SelectionOffer => {
    // Only discarded entries can be reopened, and nothing else can be done with them.
    if (discarded !== (action === 'reopen') || deletesConcernedBy(action, questioned).length > 0) return NONE;
    const selected = countActedOn(action, counted, where);
    const bound = (some: readonly SelectedCount[]) => {
      return { count: sumOf(some), seen: isMarked && some.length > 0 ? tokenOf(some) : undefined };
    };
    const feeds = [...new Set(selected.map(({ feed }) => feed))];
    const byFeed = feeds.map((feed) => ({ feed, ...bound(selected.filter((each) => each.feed === feed)) }));
    return { ...bound(selected), barred: countRefused(action, counted, where), byFeed };
  };
  return {
    inQuestion: [...new Set(questioned.map(({ feed }) => feed))],
    total: sumOf(counted),
    more: isCountCut(query, sumOf(read)),
    of: Object.fromEntries(SELECTED_ACTIONS.map((action) => [action, offer(action)])) as SelectionOffers['of'],
  };
}
