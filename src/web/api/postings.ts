// The API's operations on postings: what became of each.
import { z } from 'zod';
import { cursorSchema, keyText, limitSchema, listOf, NOTHING, nameText, text } from '../../operations/scalars.ts';
import { type FeedName, type PostingKey, postingKey } from '../../posting/identifiers.ts';
import { readHere } from '../../review/configured-policy.ts';
import { findPosting } from '../../review/find-posting.ts';
import { reportLineJson } from '../../review/read-model/feed-report.ts';
import { postingJson } from '../../review/read-model/posting.ts';
import type { App } from '../../runtime/app.ts';
import { postingsTitled } from '../../store/mapping/find-jobs.ts';
import type { PostingStory } from '../../store/review/posting-history.ts';
import { POSTING_STATES, postingPage } from '../../store/status/report-lines.ts';
import { listedPostingAnswer, pageOf, postingAnswer } from './answers.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { route } from './http-route.ts';
import { requireFeed, unknownPosting } from './known.ts';

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
  response: pageOf(listedPostingAnswer),
  async run({ params, query }, { app }) {
    const feed = await requireFeed(app, params.feed);
    const after = decodeCursor(query.cursor, keyText);
    const q = query.q || undefined;
    const filter = { states: query.state ?? POSTING_STATES, keyOrJobId: q, titled: await titledOf(app, feed, q) };
    const limit = query.limit ?? DEFAULT_LIMIT;
    const { postings, next } = await postingPage(app.db, feed, filter, limit, after as PostingKey | undefined);
    return { body: { items: postings.map(reportLineJson), next_cursor: encodeCursor(next) } };
  },
});

/** The postings with such a title, unless the text is a key or the ID of a job. */
async function titledOf({ db }: App, feed: FeedName, q: string | undefined): Promise<readonly PostingKey[]> {
  if (q === undefined) return [];
  const { postings } = await postingPage(db, feed, { states: POSTING_STATES, keyOrJobId: q }, 1);
  return postings.length > 0 ? [] : (await postingsTitled(db, q, feed, MOST_TITLED)).map(({ key }) => key);
}

export const showPosting = route({
  id: 'showPosting',
  method: 'get',
  path: '/feeds/{feed}/postings/{key}',
  summary: 'Everything about one posting: its state, its job on the site, and why',
  scope: 'read',
  params: z.strictObject({ feed: nameText, key: keyText.describe('Percent-encoded: `A%2F1` for `A/1`.') }),
  query: NOTHING,
  response: postingAnswer,
  async run({ params }, { app }) {
    const feed = await requireFeed(app, params.feed);
    const key = postingKey(params.key.trim());
    const found = await findPosting(app.db, feed, key);
    if (found === undefined) throw unknownPosting(feed, key);
    const { story, state } = found;
    const posting = postingJson(story, app.writeAction, app.config, await readHere(app.db, app.config));
    return {
      body: {
        state,
        site_job_id: posting.site_job?.site_job_id ?? null,
        site_job_url: posting.site_job?.site_job_url ?? null,
        reasons: reasonsOf(story, posting.change?.reason ?? undefined),
        ...posting,
      },
    };
  },
});

/** Why it is not on the site as the feed has it. */
function reasonsOf({ change, unreadable }: PostingStory, reason: string | undefined): string[] {
  const problems = (change?.reason?.problems ?? []).map(({ field, message }) =>
    field === undefined ? message : `${field}: ${message}`,
  );
  const said = problems.length > 0 ? problems : reason === undefined ? [] : [reason];
  return [...said, ...unreadable.map((record) => record.reason)];
}
