// Finds all that is recorded about one posting, with the state that it is in.
import type { FeedName, PostingKey } from '../posting/identifiers.ts';
import type { Queryable } from '../store/postgres/database.ts';
import { type PostingStory, readStory } from '../store/review/posting-history.ts';
import { type LineState, POSTING_STATES, postingPage } from '../store/status/report-lines.ts';

export interface FoundPosting {
  readonly story: PostingStory;
  /** `null`: only its records are known, and they can not be used. */
  readonly state: LineState | null;
}

/** Also of a posting that nothing is recorded of. */
export async function lookUpPosting(
  db: Queryable,
  feed: FeedName,
  key: PostingKey,
  newest?: number,
): Promise<FoundPosting> {
  const story = await readStory(db, feed, key, newest);
  const { postings } = await postingPage(db, feed, { states: POSTING_STATES, keyOrJobId: key }, 2);
  return { story, state: postings.find((posting) => posting.key === key)?.state ?? null };
}

/** `undefined`: nothing is recorded under this key. */
export async function findPosting(
  db: Queryable,
  feed: FeedName,
  key: PostingKey,
  newest?: number,
): Promise<FoundPosting | undefined> {
  const found = await lookUpPosting(db, feed, key, newest);
  const { state, story } = found;
  const isKnown =
    state !== null ||
    story.unreadable.length > 0 ||
    story.duplicates.length > 0 ||
    story.expiry !== undefined ||
    story.skipped !== undefined;
  return isKnown ? found : undefined;
}
