// The API's operations on feeds and pulls.
import { z } from 'zod';
import { NOTHING, nameText } from '../../operations/scalars.ts';
import { feedJson } from '../../review/read-model/feed.ts';
import { readStatus } from '../../runtime/read-status.ts';
import { ProblemError } from '../problem.ts';
import { startPullFor } from '../start-pull.ts';
import { feedAnswer, pageOf, startedPullAnswer } from './answers.ts';
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

export const startFeedPull = route({
  id: 'startPull',
  method: 'post',
  path: '/feeds/{feed}/pulls',
  summary: 'Pull a feed now, and send what differs',
  scope: 'pull',
  params: ofFeed,
  query: NOTHING,
  body: NOTHING.optional(),
  status: 202,
  response: startedPullAnswer,
  async run({ params }, { app, control, actor }) {
    const feed = await requireFeed(app, params.feed);
    const start = await startPullFor({ app, control, actor }, feed);
    switch (start.kind) {
      case 'started':
        return { status: 202, location: `/pulls/${start.pull}`, body: { pull: start.pull, feed } };
      case 'busy':
        throw new ProblemError({
          status: 409,
          detail: `feed ${feed} is being pulled right now${start.pull === undefined ? '' : `, by pull ${start.pull}`}; try again when that has ended`,
          more: { pull: start.pull ?? null },
          headers: { 'Retry-After': '5' },
        });
      case 'unusable':
        throw new ProblemError({ status: 409, detail: start.message });
      default:
        return start satisfies never;
    }
  },
});
