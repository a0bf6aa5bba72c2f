// The API's operation that lists what people did.
import { z } from 'zod';
import { activityJson } from '../../review/read-model/activity.ts';
import { listActivity } from '../../store/access/audit.ts';
import { activityAnswer, pageOf } from './answers.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { requireFeed } from './known.ts';
import { operation } from './operation.ts';
import { cursorSchema, limitSchema, NOTHING, nameText, text } from './scalars.ts';

const SHOWN = 50;
const LONGEST_NAME = 200;

export const actorText = text(LONGEST_NAME).min(1);

const place = z.strictObject({ before: z.int().min(1).max(1e15) });

export const showActivity = operation({
  id: 'showActivity',
  method: 'get',
  path: '/activity',
  summary: 'Who did what, when, and what was before and after: the newest first',
  scope: 'read',
  params: NOTHING,
  query: z.strictObject({
    feed: nameText.optional(),
    actor: actorText.optional().describe('Only what this user or token did, as answers name it.'),
    cursor: cursorSchema,
    limit: limitSchema,
  }),
  response: pageOf(activityAnswer),
  async run({ query }, { app }) {
    const limit = query.limit ?? SHOWN;
    const feed = query.feed === undefined ? undefined : await requireFeed(app, query.feed);
    const { before } = decodeCursor(query.cursor, place) ?? {};
    const read = await listActivity(app.db, { feed, actor: query.actor, before }, limit + 1);
    const items = read.slice(0, limit).map(activityJson);
    const next = read.length > limit ? { before: items.at(-1)?.activity } : undefined;
    return { body: { items, next_cursor: encodeCursor(next) } };
  },
});
