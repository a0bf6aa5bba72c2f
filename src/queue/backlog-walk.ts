// Turns the backlogs of a site's feeds into batches: each feed in its own order, all feeds in equal shares.
import type { FeedName, PostingKey } from '../posting/identifiers.ts';
import type { QueuedPosting } from './site-queue.ts';

/** A page of one feed's backlog. `cursor`: where that entry stands, so that the next page begins behind it. */
export interface ReadyPage<Cursor> {
  readonly items: readonly { readonly key: PostingKey; readonly cursor: Cursor }[];
}

/**
 * Reads what of a feed may be sent now, in the order it should be sent in: deletes, creates, updates, nothing whose
 * `not_before` is ahead. At most `limit` entries behind `after`; fewer: there are no more.
 */
export type ReadReady<Cursor> = (
  feed: FeedName,
  after: Cursor | undefined,
  limit: number,
) => Promise<ReadyPage<Cursor>>;

/**
 * A walk from the start of the backlogs to their end. Entries that became ready behind it are met by the next walk; so
 * entries that are done are passed once per walk, not once per batch.
 */
export interface BacklogWalk {
  /** The next entries, `limit` at most; fewer: the walk is at its end. */
  take(limit: number): Promise<QueuedPosting[]>;
  /** Whether there is nothing more to take. */
  ended(): boolean;
  restart(): Promise<void>;
}

interface Position<Cursor> {
  readonly feed: FeedName;
  after: Cursor | undefined;
  ended: boolean;
}

/** One from each in turn, so that no feed's postings stand behind all of another's. */
function interleave<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  const merged: T[] = [];
  for (let index = 0; index < longest; index++) {
    for (const list of lists) {
      const item = list[index];
      if (item !== undefined) merged.push(item);
    }
  }
  return merged;
}

/** Begins with nothing to take; the feeds are asked for at each restart. */
export function startWalk<Cursor>(
  feeds: () => Promise<readonly FeedName[]>,
  readReady: ReadReady<Cursor>,
): BacklogWalk {
  let places: Position<Cursor>[] = [];
  // Which feed is served first moves on, so that with more feeds than room each has its turn.
  let first = 0;

  return {
    async take(limit) {
      const taken = new Map<FeedName, QueuedPosting[]>();
      let room = limit;
      while (room > 0) {
        const open = places.filter((place) => !place.ended);
        if (open.length === 0) break;
        const share = Math.ceil(room / open.length);
        first = (first + 1) % open.length;
        for (const place of [...open.slice(first), ...open.slice(0, first)]) {
          const wantedCount = Math.min(share, room);
          if (wantedCount === 0) break;
          const { items } = await readReady(place.feed, place.after, wantedCount);
          place.after = items.at(-1)?.cursor ?? place.after;
          place.ended = items.length < wantedCount;
          room -= items.length;
          const ofFeed = taken.get(place.feed) ?? [];
          for (const { key } of items) ofFeed.push({ feed: place.feed, key });
          taken.set(place.feed, ofFeed);
        }
      }
      return interleave([...taken.values()]);
    },
    ended: () => places.every((place) => place.ended),
    async restart() {
      places = (await feeds()).map((feed) => ({ feed, after: undefined, ended: false }));
    },
  };
}
