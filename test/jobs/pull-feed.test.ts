// Pulls of a feed that is long enough for a thread of its own: what is planned is what the feed says, posting by posting.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pullFeed } from '../../jobs/pull-feed.ts';
import type { Books } from '../../src/cli/books.ts';
import { feedSetups } from '../../src/cli/feed-setups.ts';
import { feedXml, posting, type TestPosting } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

const POSTINGS = 5_000;

let mirror: Mirror;
let books: Books;
beforeAll(async () => {
  mirror = await openMirror();
  books = await mirror.books();
});
afterAll(() => mirror.close());

/** Long ones beside short ones, each with a description of its own; `version` says which of them are other than before. */
const feedOf = (version: (n: number) => number): TestPosting[] =>
  Array.from({ length: POSTINGS }, (_, n) =>
    posting(`p${n}`, { description: `<p>${`${n} in version ${version(n)} `.repeat(1 + ((n * 7) % 200))}</p>` }),
  );

async function pull(list: readonly TestPosting[]): Promise<Record<string, number>> {
  await mirror.writeFeed(feedXml(list));
  const [setup] = feedSetups(books.config, ['acme']);
  if (setup === undefined) throw new Error('there is no feed');
  const end = await pullFeed(setup, { db: books.db, log: books.log, signal: new AbortController().signal });
  if (end.kind !== 'committed') throw new Error(`the pull ended otherwise: ${JSON.stringify(end)}`);
  const [row] = await books.db.query('select seen, unchanged, duplicates, unreadable from pull where id = $1', [
    end.pull,
  ]);
  return { ...row, complete: Number(end.complete) };
}

/** The descriptions that are wished, by key. */
const wished = async (): Promise<Map<string, string>> =>
  new Map(
    (await books.db.query("select key, fields->>'description' as text from change")).map(({ key, text }) => [
      key,
      text,
    ]),
  );

it('wishes each posting as the feed has it, in a first pull and in those where some are other than before', async () => {
  let list = feedOf(() => 1);
  expect(Buffer.byteLength(feedXml(list))).toBeGreaterThan(8 * 1024 * 1024);
  const expected = () => new Map(list.map(({ key, description = '' }) => [key, description]));
  expect(await pull(list)).toEqual({ seen: POSTINGS, unchanged: 0, duplicates: 0, unreadable: 0, complete: 1 });
  expect(await wished()).toEqual(expected());

  list = feedOf((n) => (n % 3 === 0 ? 2 : 1));
  expect(await pull(list)).toEqual({ seen: POSTINGS, unchanged: 0, duplicates: 0, unreadable: 0, complete: 1 });
  expect(await wished()).toEqual(expected());
});
