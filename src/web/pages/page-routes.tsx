// All pages. Each folder beside this file serves the pages about one thing.
import { Hono } from 'hono';
import type { Sessions } from '../access/sessions.ts';
import { isOpen } from '../access/visitor.ts';
import type { WebEnv } from '../web-env.ts';
import { activityPages } from './activity/activity.tsx';
import { adoptPages } from './adopt/adopt-pages.tsx';
import { assetRoutes } from './assets.ts';
import { changesPages } from './changes/changes.tsx';
import { configurationPages } from './configuration/configuration-pages.tsx';
import { doubtPages, foundPages } from './doubts/doubt-pages.tsx';
import { feedPages } from './feeds/feed-pages.tsx';
import { heldPages } from './held/held-pages.tsx';
import { jobPages } from './jobs/job-pages.tsx';
import { overviewPages } from './overview/overview.tsx';
import type { PageContext } from './page.tsx';
import { pausePages } from './pause/pause-pages.tsx';
import { postingPages } from './posting/posting-pages.tsx';
import { pullPages } from './pulls/pulls.tsx';
import { queuePages } from './queues/queues.tsx';
import { rekeyPages } from './rekey/rekey-pages.tsx';
import { reviewPages } from './review/review-pages.tsx';
import { setupPages } from './setup/setup-pages.tsx';
import { signInRoutes } from './sign-in.tsx';
import { sitePages } from './sites/sites.tsx';

const PAGES: readonly ((context: PageContext) => Hono<WebEnv>)[] = [
  overviewPages,
  heldPages,
  // Before addresses that have a number in the same place.
  foundPages,
  doubtPages,
  rekeyPages,
  adoptPages,
  jobPages,
  reviewPages,
  postingPages,
  feedPages,
  setupPages,
  pullPages,
  changesPages,
  sitePages,
  pausePages,
  queuePages,
  activityPages,
  configurationPages,
];

export function pageRoutes(context: PageContext, sessions: Sessions): Hono<WebEnv> {
  const routes = new Hono<WebEnv>();
  routes.route('/', assetRoutes());
  for (const pages of PAGES) routes.route('/', pages(context));
  if (!isOpen(context.app.config.web)) routes.route('/', signInRoutes(sessions));
  return routes;
}
