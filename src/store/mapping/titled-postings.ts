// Finds postings by words of their title: those with a job, as the site has them, and those in review.
import type { FeedName, PostingRef } from '../../posting/identifiers.ts';
import type { Database, Queryable } from '../postgres/database.ts';

type Found = PostingRef & Record<string, unknown>;

/** As the index has it. */
const WORDS = `array_to_tsvector(words_of(d.fields->>'title') || ('@' || d.feed))`;
/** Reading so many titles takes a few milliseconds. */
const SAMPLE = 300;
/** Reading so many takes about as long as the index takes for words of so few titles that more would have to be read. */
const MOST_READ = 3_000;
const first = (titles: number): string => `select d.feed, d.key, ${WORDS} as words from (
  select * from document where $2::text is null or feed = $2 order by feed, key limit ${titles}) d`;

/**
 * Postings with a title of which words begin with each word of the text, as `word_query` of migration 0047 has it: at most so many,
 * in no order. A posting that waits to be created has neither a job nor an entry in review, and is not found.
 */
export async function postingsTitled(
  db: Database,
  text: string,
  feed: FeedName | undefined,
  limit: number,
): Promise<PostingRef[]> {
  const sample = await amongFirst(db, SAMPLE, text, feed, limit);
  let found = distinct([...(await inReview(db, text, feed, limit)), ...sample]);
  // Twice as many as should have enough of them.
  const titles = Math.ceil((2 * SAMPLE * limit) / sample.length);
  if (found.length < limit && titles <= MOST_READ) {
    found = distinct([...found, ...(await amongFirst(db, titles, text, feed, limit))]);
  }
  if (found.length < limit) found = distinct([...found, ...(await byIndex(db, text, feed, limit))]);
  return found.slice(0, limit);
}

const distinct = (refs: readonly PostingRef[]): PostingRef[] => [
  ...new Map(refs.map((ref) => [`${ref.feed} ${ref.key}`, ref])).values(),
];

const inReview = (db: Queryable, text: string, feed: FeedName | undefined, limit: number): Promise<Found[]> =>
  db.query<Found>(
    `select e.feed, e.key from review_entry e
     where e.words @@ word_query($1, '=') and e.key is not null and ($2::text is null or e.feed = $2) limit $3`,
    [text, feed ?? null, limit],
  );

/** Of the first titles. If many postings have the words, some of these do. */
const amongFirst = (
  db: Queryable,
  titles: number,
  text: string,
  feed: FeedName | undefined,
  limit: number,
): Promise<Found[]> =>
  db.query<Found>(`select feed, key from (${first(titles)}) d where words @@ word_query($1) limit $3`, [
    text,
    feed ?? null,
    limit,
  ]);

/** The index reads every posting with a word. Words that most titles have are therefore compared with what the others find; so is a feed with most jobs. */
const byIndex = (db: Database, text: string, feed: FeedName | undefined, limit: number): Promise<Found[]> =>
  db.transaction(async (tx) => {
    const [row] = await tx.query<{ rare: string | null; common: string | null; most: boolean }>(
      `with sample as materialized (${first(SAMPLE)}),
       searched as materialized (select word, word_query(word) as query from unnest(words_of($1)) word),
       frequent as materialized (
         select word, (select 2 * count(*) filter (where words @@ query) > count(*) from sample) as most from searched)
       select string_agg(word, ' ') filter (where not most) as rare, string_agg(word, ' ') filter (where most) as common,
         coalesce(2 * (select n from mapping_total where feed = $2) > (select sum(n) from mapping_total), false) as most
       from frequent`,
      [text, feed ?? null],
    );
    const { rare = null, common = null, most = false } = row ?? {};
    const [searched, compared] = rare === null ? [common, null] : [rare, common];
    // Comparing all titles takes many seconds, whatever the server expects, and so does comparing those that do not fit into memory.
    await tx.query(`select set_config('enable_seqscan', 'off', true), set_config('enable_indexscan', 'off', true),
      set_config('work_mem', '64MB', true)`);
    const asWord = feed === undefined || most ? '' : `&& ('''@' || $4::text || '''')::tsquery`;
    return tx.query<Found>(
      `select d.feed, d.key from document d
       where ${WORDS} @@ (word_query($1) ${asWord}) and ($2::text is null or ${WORDS} @@ word_query($2))
         and ($4::text is null or d.feed || '' = $4) limit $3`,
      [searched, compared, limit, feed ?? null],
    );
  });
