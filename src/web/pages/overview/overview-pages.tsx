// The overview.
import { Hono } from 'hono';
import { readStatus } from '../../../operations/status.ts';
import { recentPulls } from '../../../store/pull/pull-history.ts';
import type { WebEnv } from '../../web-env.ts';
import { type PageContext, showPage } from '../page.tsx';
import { Overview } from './overview.tsx';

/** So many fit beside the numbers of a feed, also on a phone. */
const SHOWN_PULLS = 20;

export function overviewPages({ app }: PageContext): Hono<WebEnv> {
  const pages = new Hono<WebEnv>();
  pages.get(
    '/',
    showPage(async ({ visit }) => {
      const status = await readStatus(app);
      const names = status.feeds.map(({ feed }) => feed);
      return <Overview status={status} pulls={await recentPulls(app.db, names, SHOWN_PULLS)} visit={visit} />;
    }),
  );
  return pages;
}
