// Reads the held deletes of a feed page by page, with what binds a decision about all of them to exactly those.
import type { FeedName } from '../posting/identifiers.ts';
import type { Database } from '../store/postgres/database.ts';
import { countEntries } from '../store/review/review-entries.ts';
import { type EntryPlace, reviewPage } from '../store/review/review-page.ts';
import {
  foldReviewCounts,
  type HeldDelete,
  type HeldFor,
  heldReasons,
  readHeldDeletes,
} from '../store/review/review-totals.ts';
import { previewBulk } from './bulk/start-bulk.ts';
import type { FeedsConfig } from './health/configured-policy.ts';
import { sumOf, tokenOf } from './seen.ts';

export interface HeldPage {
  /** How many deletes are held. */
  readonly count: number;
  /** How many of them approving all would approve. */
  readonly approvable: number;
  /** Of exactly those; `undefined`: they are too many to be approved on the page. */
  readonly seen: string | undefined;
  /** Whether the keys of the feed have changed has to be answered before any of them is decided. */
  readonly inQuestion: boolean;
  /** Why others can't be approved now. */
  readonly barred: readonly string[];
  readonly reasons: readonly HeldFor[];
  readonly deletes: readonly HeldDelete[];
  readonly next: EntryPlace | undefined;
}

const MOST_MARKED = 5_000;

export async function readHeldPage(
  { db, config }: { readonly db: Database; readonly config: FeedsConfig },
  feed: FeedName,
  limit: number,
  after: EntryPlace | undefined,
): Promise<HeldPage> {
  await foldReviewCounts(db);
  const query = { feed, kinds: ['held'] } as const;
  // Bound before the deletes are read: one that is held meanwhile is shown, but not decided.
  const { selected, others, first } = await previewBulk(db, config, 'approve', query);
  const approvable = sumOf(selected);
  const { entries, next } = await reviewPage(db, query, limit, after);
  return {
    count: (await countEntries(db, query)).get('held') ?? 0,
    approvable,
    seen: approvable > MOST_MARKED ? undefined : tokenOf(selected),
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
