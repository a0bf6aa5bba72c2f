// The API's operations on feeds.
import { z } from 'zod';
import { NOTHING, nameText } from '../../operations/scalars.ts';
import { feedJson } from '../../review/read-model/feed.ts';
import { readStatus } from '../../runtime/read-status.ts';
import { feedAnswer, pageOf } from './answers.ts';
import { route } from './http-route.ts';
import { notFound, requireFeed } from './known.ts';

const ofFeed = z.strictObject({ feed: nameText });

export const listFeeds = route({
  id: 'listFeeds',
  method: 'get',
  path: '/feeds',
  summary: 'All feeds with their status',
  scope: 'read',
  params: NOTHING,
  query: NOTHING,
  response: pageOf(feedAnswer),
  async run(_input, { app }) {
    const { feeds, assessment } = await readStatus(app);
    return {
      body: { items: feeds.map((feed) => feedJson(feed, assessment.failing, app.writeAction)), next_cursor: null },
    };
  },
});

export const showFeed = route({
  id: 'showFeed',
  method: 'get',
  path: '/feeds/{feed}',
  summary: 'The status of one feed',
  scope: 'read',
  params: ofFeed,
  query: NOTHING,
  response: feedAnswer,
  async run({ params }, { app }) {
    const name = await requireFeed(app, params.feed);
    const { feeds, assessment } = await readStatus(app, name);
    const feed = feeds.find((each) => each.feed === name);
    if (feed === undefined) throw notFound(`there is no feed ${name}`);
    return { body: feedJson(feed, assessment.failing, app.writeAction) };
  },
});
