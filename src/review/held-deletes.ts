// Reads the held deletes of a feed page by page, with what binds a decision about all of them to exactly those.
import type { FeedName } from '../posting/identifiers.ts';
import type { Database } from '../store/postgres/database.ts';
import type { EntryQuery } from '../store/review/entry-query.ts';
import { type HeldDelete, type HeldFor, heldReasons, readHeldDeletes } from '../store/review/held-deletes.ts';
import { countEntries } from '../store/review/review-entries.ts';
import { type EntryPlace, reviewPage } from '../store/review/review-page.ts';
import { foldReviewCounts } from '../store/review/review-totals.ts';
import { markOf, previewBulk } from './bulk/start-bulk.ts';
import type { FeedsConfig } from './configured-policy.ts';

export interface HeldPage {
  /** How many deletes are held. */
  readonly count: number;
  /** How many of them approving all would approve. */
  readonly approvable: number;
  /** Of exactly those; `undefined`: they are too many to be approved on the page. */
  readonly mark: string | undefined;
  /** Whether the keys of the feed have changed has to be answered before any of them is decided. */
  readonly inQuestion: boolean;
  /** Why others can't be approved now. */
  readonly barred: readonly string[];
  readonly reasons: readonly HeldFor[];
  readonly deletes: readonly HeldDelete[];
  readonly next: EntryPlace | undefined;
}

const MOST_MARKED = 5_000;

/** What approving all held deletes of a feed selects. */
export const heldOf = (feed: FeedName): EntryQuery => ({ feed, kinds: ['held'] });

export async function readHeldPage(
  { db, config }: { readonly db: Database; readonly config: FeedsConfig },
  feed: FeedName,
  limit: number,
  after: EntryPlace | undefined,
): Promise<HeldPage> {
  await foldReviewCounts(db);
  const query = heldOf(feed);
  // Bound before the deletes are read: one that is held meanwhile is shown, but not decided.
  const { selected, others, first } = await previewBulk(db, config, 'approve', query);
  const approvable = sumOf(selected);
  const { entries, next } = await reviewPage(db, query, limit, after);
  return {
    count: (await countEntries(db, { feed, kinds: ['held'], within: query })).get('held') ?? 0,
    approvable,
    mark: approvable > MOST_MARKED ? undefined : markOf(selected),
    inQuestion: first !== undefined,
    barred: others.map(({ why }) => why),
    reasons: await heldReasons(db, feed),
    deletes: await readHeldDeletes(
      db,
      entries.map(({ id }) => id),
    ),
    next,
  };
}

const sumOf = (counts: readonly { readonly n: number }[]): number => counts.reduce((sum, { n }) => sum + n, 0);
