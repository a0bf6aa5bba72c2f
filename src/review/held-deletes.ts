// Reads the held deletes of a feed page by page, with what binds a decision about all of them to exactly those.
import type { FeedName } from '../posting/identifiers.ts';
import type { Database } from '../store/postgres/database.ts';
import type { EntryQuery } from '../store/review/entry-query.ts';
import { type HeldDelete, type HeldFor, heldReasons, readHeldDeletes } from '../store/review/held-deletes.ts';
import { countEntries } from '../store/review/review-entries.ts';
import { type EntryPlace, reviewPage } from '../store/review/review-page.ts';
import { markOf, previewBulk } from './bulk/start-bulk.ts';
import { groupAll } from './list-groups.ts';

export interface HeldPage {
  readonly count: number;
  /** `undefined`: reading each one's revision would take longer than a page may. */
  readonly mark: string | undefined;
  readonly reasons: readonly HeldFor[];
  readonly deletes: readonly HeldDelete[];
  readonly next: EntryPlace | undefined;
}

const MOST_MARKED = 5_000;

/** What approving all held deletes of a feed selects. */
export const heldOf = (feed: FeedName): EntryQuery => ({ feed, kinds: ['held'] });

export async function readHeldPage(
  db: Database,
  feed: FeedName,
  limit: number,
  after: EntryPlace | undefined,
): Promise<HeldPage> {
  await groupAll(db);
  const query = heldOf(feed);
  const waiting = await countEntries(db, { feed, kinds: ['held'], within: query });
  // Bound before the deletes are read: one that is held meanwhile is shown, but not decided.
  const marked = (waiting.get('held') ?? 0) > MOST_MARKED ? undefined : await previewBulk(db, 'approve', query);
  const { entries, next } = await reviewPage(db, query, limit, after);
  return {
    count: marked?.reduce((sum, { n }) => sum + n, 0) ?? waiting.get('held') ?? 0,
    mark: marked === undefined ? undefined : markOf(marked),
    reasons: await heldReasons(db, feed),
    deletes: await readHeldDeletes(
      db,
      entries.map(({ id }) => id),
    ),
    next,
  };
}
