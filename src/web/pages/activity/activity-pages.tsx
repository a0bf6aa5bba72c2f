// The page of activity: who did what, when, and what was before and after.
import { Hono } from 'hono';
import { showActivity } from '../../../operations/activity.ts';
import { numberSchema } from '../../../operations/scalars.ts';
import type { WebEnv } from '../../web-env.ts';
import { expectValue } from '../expect-value.ts';
import { askedBy, type PageContext, readInput, showPage } from '../page.tsx';
import { ActivityPage } from './activity.tsx';

const SHOWN = 50;

export function activityPages(context: PageContext): Hono<WebEnv> {
  const pages = new Hono<WebEnv>();
  pages.get(
    '/activity',
    showPage(async ({ visit, actor: visitor, query }) => {
      const { feed, actor } = readInput(showActivity, query);
      const before = expectValue('before', numberSchema.optional(), query('before'));
      const page = { limit: SHOWN, after: before === undefined ? undefined : { before } };
      const { items, next } = await showActivity.readPage({ feed, actor }, page, askedBy(context, visitor));
      return (
        <ActivityPage
          visit={visit}
          items={items}
          feeds={[...context.app.config.feeds.keys()]}
          selection={{ feed, actor, before }}
          older={next?.before}
        />
      );
    }),
  );
  return pages;
}
