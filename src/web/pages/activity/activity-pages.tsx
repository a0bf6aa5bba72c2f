// The page of activity: who did what, when, and what was before and after.
import { Hono } from 'hono';
import { listActivity } from '../../../store/access/audit.ts';
import { actorText } from '../../api/activity.ts';
import { requireFeed } from '../../api/known.ts';
import { numberSchema } from '../../api/scalars.ts';
import type { WebEnv } from '../../web-env.ts';
import { expectValue } from '../expect-value.ts';
import { type PageContext, showPage } from '../page.tsx';
import { ActivityPage } from './activity.tsx';

const SHOWN = 50;

export function activityPages({ app }: PageContext): Hono<WebEnv> {
  const pages = new Hono<WebEnv>();
  pages.get(
    '/activity',
    showPage(async ({ visit, query }) => {
      const given = query('feed');
      const feed = given === undefined ? undefined : await requireFeed(app, given);
      const actor = expectValue('actor', actorText.optional(), query('actor'));
      const before = expectValue('before', numberSchema.optional(), query('before'));
      const found = await listActivity(app.db, { feed, actor, before }, SHOWN + 1);
      const items = found.slice(0, SHOWN);
      return (
        <ActivityPage
          visit={visit}
          items={items}
          feeds={[...app.config.feeds.keys()]}
          selection={{ feed, actor, before }}
          older={found.length > SHOWN ? items.at(-1)?.id : undefined}
        />
      );
    }),
  );
  return pages;
}
