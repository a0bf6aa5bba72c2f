// All pages. Each folder beside this file serves the pages about one thing.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Hono } from 'hono';
import { packageRoot } from '../../config/package-root.ts';
import type { Sessions } from '../sessions.ts';
import { isOpen } from '../visitor.ts';
import type { WebEnv } from '../web-env.ts';
import { activityPages } from './activity.tsx';
import { adoptPages } from './adopt.tsx';
import { changesPages } from './changes.tsx';
import { configurationPages } from './configuration.tsx';
import { doubtPages, foundPages } from './doubts.tsx';
import { feedPages } from './feeds.tsx';
import { heldPages } from './held.tsx';
import { jobPages } from './jobs.tsx';
import { overviewPages } from './overview.tsx';
import type { PageContext } from './parts/page.tsx';
import { pausePages } from './pause.tsx';
import { postingPages } from './posting/posting-pages.tsx';
import { pullPages } from './pulls.tsx';
import { queuePages } from './queues.tsx';
import { rekeyPages } from './rekey.tsx';
import { reviewPages } from './review/review-pages.tsx';
import { setupPages } from './setup/setup-pages.tsx';
import { signInRoutes } from './sign-in.tsx';
import { sitePages } from './sites.tsx';
import { uploadPages } from './uploads.tsx';

const PAGES: readonly ((pages: Hono<WebEnv>, context: PageContext) => void)[] = [
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
  uploadPages,
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
  for (const addPages of PAGES) addPages(routes, context);
  if (!isOpen(context.app.config.web)) routes.route('/', signInRoutes(sessions));
  return routes;
}

// The icon of the pages, their scripts, and their style, which several files have. They do not change while the process runs.

const PAGES_FOLDER = join(packageRoot, 'src', 'web', 'pages');

function readStyle(): string {
  const path = join(PAGES_FOLDER, 'style');
  const files = readdirSync(path).sort();
  return files.map((file) => readFileSync(join(path, file), 'utf8')).join('\n');
}

/** A posting and its mirror image. Its colours are attributes, as no style within a document is allowed. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b57b0"/>' +
  '<path d="M14 7v18H5z" fill="#fff"/><path d="M18 7v18h9z" fill="#8ab8f8"/></svg>';

function assetRoutes(): Hono<WebEnv> {
  const [style, scripts] = [readStyle(), readFileSync(join(PAGES_FOLDER, 'pages.js'), 'utf8')];
  const assets = new Hono<WebEnv>();
  const headers = { 'Cache-Control': 'max-age=300' };
  assets.get('/style.css', (c) => c.body(style, 200, { 'Content-Type': 'text/css; charset=utf-8', ...headers }));
  assets.get('/pages.js', (c) =>
    c.body(scripts, 200, { 'Content-Type': 'text/javascript; charset=utf-8', ...headers }),
  );
  assets.get('/icon.svg', (c) => c.body(ICON, 200, { 'Content-Type': 'image/svg+xml', ...headers }));
  return assets;
}
