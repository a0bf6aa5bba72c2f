// The API's operations on the jobs that a search of the site found for a feed.
import { z } from 'zod';
import { bulkAction, bulkOutput } from '../../operations/bulk-actions.ts';
import { cursorSchema, limitSchema, NOTHING, nameText, text } from '../../operations/scalars.ts';
import { tell } from '../../plan/message.ts';
import type { LeftEntry } from '../../review/adopt-found.ts';
import { foundJobsOf, startAdoptingFor } from '../adopt-found.ts';
import { ProblemError } from '../problem.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { route } from './http-route.ts';
import { requireFeed } from './known.ts';

const ofFeed = z.strictObject({ feed: nameText });
const placeSchema = z.strictObject({ after: z.int().min(0).max(1e15) });
const SHOWN = 50;
const count = z.int().min(0);

const foundJob = z.looseObject({
  entry: z.int(),
  key: z.string(),
  job_id: z.string(),
  message: z.string().nullable().describe('Why a person decides about it by itself; `null`: its posting is certain.'),
});

const foundAnswer = z
  .looseObject({
    feed: z.string(),
    sure: count.describe(
      "Certain jobs: each job shows exactly its posting's reference, and no other job or posting has it.",
    ),
    left: count,
    mark: z.string().describe('Identifies the certain jobs; send it to adopt exactly these.'),
    items: z.array(foundJob),
    next_cursor: z.string().nullable().describe('`null`: nothing follows.'),
  })
  .meta({ title: 'FoundJobs' });

export const showFound = route({
  id: 'showFound',
  method: 'get',
  path: '/feeds/{feed}/found',
  summary: 'Jobs that a search of the site found for postings of a feed, and which of them are certain',
  scope: 'read',
  params: ofFeed,
  query: z.strictObject({ cursor: cursorSchema, limit: limitSchema }),
  response: foundAnswer,
  async run({ params, query }, { app }) {
    const feed = await requireFeed(app, params.feed);
    const { after } = decodeCursor(query.cursor, placeSchema) ?? { after: 0 };
    const limit = query.limit ?? SHOWN;
    const { sure, left, mark } = await foundJobsOf(app, feed);
    const all = [...sure.map((job) => ({ ...job, message: undefined })), ...left].sort((a, b) => a.entry - b.entry);
    const following = all.filter(({ entry }) => entry > after);
    const items = following.slice(0, limit);
    const next = following.length > limit ? { after: items.at(-1)?.entry } : undefined;
    return {
      body: {
        feed,
        sure: sure.length,
        left: left.length,
        mark,
        items: items.map(foundJson),
        next_cursor: encodeCursor(next),
      },
    };
  },
});

export const adoptFound = route({
  id: 'adoptFound',
  method: 'post',
  path: '/feeds/{feed}/found',
  summary: 'Start an action that checks each certain job on the site and adopts it',
  scope: 'review',
  params: ofFeed,
  query: NOTHING,
  body: z.strictObject({ mark: text(100).describe('The `mark` that was shown: with any others, nothing is done.') }),
  status: 202,
  response: bulkOutput,
  async run({ params, body }, { app, control, actor }) {
    const feed = await requireFeed(app, params.feed);
    const start = await startAdoptingFor({ app, control, actor }, feed, body.mark);
    if (start.kind === 'refused') throw new ProblemError({ status: 409, detail: tell(start.message, app.writeAction) });
    const { id } = start.bulk;
    return { status: 202, location: `/review/actions/${id}`, body: z.encode(bulkOutput, await bulkAction(app, id)) };
  },
});

const foundJson = ({
  entry,
  key,
  siteJobId,
  message,
}: Omit<LeftEntry, 'message'> & { message: string | undefined }) => ({
  entry,
  key,
  job_id: siteJobId,
  message: message ?? null,
});
