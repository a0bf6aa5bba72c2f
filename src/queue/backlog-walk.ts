// Walks through the backlogs of a site's feeds in batches: each feed in its own order, all feeds in equal shares.
import type { FeedName, PostingKey, PostingRef } from '../posting/identifiers.ts';

/** A page of one feed's backlog. `cursor` is the position of its entry; the next page begins after it. */
export interface ReadyPage<Cursor> {
  readonly items: readonly { readonly key: PostingKey; readonly cursor: Cursor }[];
}

/**
 * Reads the changes of a feed that may be sent now, in sending order: deletes, creates, updates; none whose `not_before` is
 * in the future. Returns at most `limit` entries after `after`; fewer mean that there are no more.
 */
export type ReadReady<Cursor> = (
  feed: FeedName,
  after: Cursor | undefined,
  limit: number,
) => Promise<ReadyPage<Cursor>>;

/**
 * A walk from the start of the backlogs to their end. Entries that become ready behind it are left to the next walk, so
 * completed entries are skipped once per walk, not once per batch.
 */
export interface BacklogWalk {
  /** The next entries, at most `limit`; fewer mean that the walk has ended. */
  take(limit: number): Promise<PostingRef[]>;
  /** Whether the walk has ended. */
  ended(): boolean;
  restart(): Promise<void>;
}

interface Position<Cursor> {
  readonly feed: FeedName;
  after: Cursor | undefined;
  ended: boolean;
}

/** Takes one from each list in rotation, so that no feed's postings wait for all of another's. */
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

/** Starts at the end of an empty walk; each restart reads the feeds. */
export function startWalk<Cursor>(
  feeds: () => Promise<readonly FeedName[]>,
  readReady: ReadReady<Cursor>,
): BacklogWalk {
  let places: Position<Cursor>[] = [];
  // Rotates the feed that is served first, so that with more feeds than room each gets its share.
  let first = 0;

  return {
    async take(limit) {
      const taken = new Map<FeedName, PostingRef[]>();
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
