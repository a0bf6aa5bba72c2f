// Reads what became of a feed's postings, one page after another in the order of their keys.
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';
import { changes, ended, lineOf, mappings, type POSTING_STATES, type ReportLine } from './report-lines.ts';

export type PostingState = (typeof POSTING_STATES)[number];

export interface PostingFilter {
  readonly states: readonly PostingState[];
  /** Only the posting with this key, that of the site job with this ID, and those of `titled`. */
  readonly keyOrJobId: string | undefined;
  readonly titled?: readonly PostingKey[];
}

export interface PostingPage {
  readonly postings: readonly ReportLine[];
  /** `undefined`: nothing follows. */
  readonly next: PostingKey | undefined;
}

/** These are the states of mappings without a change. */
const QUIET: readonly PostingState[] = ['live', 'grace'];

export async function postingPage(
  db: Queryable,
  feed: FeedName,
  { states, keyOrJobId, titled = [] }: PostingFilter,
  limit: number,
  after?: PostingKey,
): Promise<PostingPage> {
  const parts = [
    changes('$1'),
    ...(states.includes('expired') ? [ended('$1')] : []),
    ...(states.some((state) => QUIET.includes(state)) ? [mappings('$1')] : []),
  ];
  const values = [feed, states, limit + 1, after ?? ''];
  const keys = keyOrJobId === undefined ? undefined : [...(await keysOf(db, feed, keyOrJobId)), ...titled];
  const only = keys === undefined ? '' : ' and key = any($5::text[])';
  // Each part reads the primary key of its table in order, and ends when the page is full.
  const rows = await db.query(
    `select * from (${parts
      .map(
        (part) =>
          `(select * from (${part}) line where key > $4 and state = any($2::text[])${only} order by key limit $3)`,
      )
      .join(' union all ')}) line order by key limit $3`,
    keys === undefined ? values : [...values, keys],
  );
  const postings = rows.slice(0, limit).map(lineOf);
  return { postings, next: rows.length > limit ? postings.at(-1)?.key : undefined };
}

async function keysOf(db: Queryable, feed: FeedName, text: string): Promise<string[]> {
  const found = await db.query<{ key: string }>(
    `select m.key from mapping m where m.feed = $1 and m.site_job_id = $2
       and m.site = (select f.site from feed_state f where f.feed = $1)`,
    [feed, text],
  );
  return [text, ...found.map(({ key }) => key)];
}
