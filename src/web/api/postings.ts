// The API's operations on postings: what became of each.
import { z } from 'zod';
import { listedPostingOutput, reportLineOf } from '../../operations/report.ts';
import { cursorSchema, keyText, limitSchema, listOf, nameText, text } from '../../operations/scalars.ts';
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import type { App } from '../../runtime/app.ts';
import { postingsTitled } from '../../store/mapping/find-jobs.ts';
import { POSTING_STATES, postingPage } from '../../store/status/report-lines.ts';
import { pageOf } from './answers.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { route } from './http-route.ts';
import { requireFeed } from './known.ts';

const DEFAULT_LIMIT = 50;
const MOST_TITLED = 200;

export const listPostings = route({
  id: 'listPostings',
  method: 'get',
  path: '/feeds/{feed}/postings',
  summary: 'The postings of a feed in the order of their keys, with what became of each',
  scope: 'read',
  params: z.strictObject({ feed: nameText }),
  query: z.strictObject({
    state: listOf(POSTING_STATES),
    q: text(500)
      .optional()
      .describe(
        `The posting with this key or whose site job has this ID. If there is none, at most ${MOST_TITLED} whose title has words that begin with these.`,
      ),
    cursor: cursorSchema,
    limit: limitSchema,
  }),
  response: pageOf(listedPostingOutput),
  async run({ params, query }, { app }) {
    const feed = await requireFeed(app, params.feed);
    const after = decodeCursor(query.cursor, keyText);
    const q = query.q || undefined;
    const filter = { states: query.state ?? POSTING_STATES, keyOrJobId: q, titled: await titledOf(app, feed, q) };
    const limit = query.limit ?? DEFAULT_LIMIT;
    const { postings, next } = await postingPage(app.db, feed, filter, limit, after as PostingKey | undefined);
    return {
      body: {
        items: postings.map((posting) =>
          listedPostingOutput.encode(reportLineOf(posting) as z.output<typeof listedPostingOutput>),
        ),
        next_cursor: encodeCursor(next),
      },
    };
  },
});

/** The postings with such a title, unless the text is a key or the ID of a job. */
async function titledOf({ db }: App, feed: FeedName, q: string | undefined): Promise<readonly PostingKey[]> {
  if (q === undefined) return [];
  const { postings } = await postingPage(db, feed, { states: POSTING_STATES, keyOrJobId: q }, 1);
  return postings.length > 0 ? [] : (await postingsTitled(db, q, feed, MOST_TITLED)).map(({ key }) => key);
}
