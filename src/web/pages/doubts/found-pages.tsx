// The page of the jobs that a search of the site found for a feed.
import { Hono } from 'hono';
import { adoptFound, foundJobsOf, showFound } from '../../../operations/adoption.ts';
import { namedFeed } from '../../../operations/operation.ts';
import type { App } from '../../../runtime/app.ts';
import { unfinishedBulk } from '../../../store/review/bulk-actions.ts';
import type { WebEnv } from '../../web-env.ts';
import { pageAddress } from '../addresses.ts';
import { operationForm, type PageContext, readInput, showPage } from '../page.tsx';
import { FoundPage } from './found.tsx';

export function foundPages(context: PageContext): Hono<WebEnv> {
  const { app } = context;
  const pages = new Hono<WebEnv>();
  pages.get(
    '/doubts/found',
    showPage(async ({ visit, query }) => (
      <FoundPage visit={visit} {...(await readPage(app, readInput(showFound, query).feed))} />
    )),
  );
  pages.post(
    '/doubts/found',
    operationForm(context, adoptFound, {
      next: ({ bulk }) => pageAddress.bulkAction(bulk),
      refused: async ({ message }, { c, visit }, { feed }) =>
        c.html(<FoundPage visit={visit} {...(await readPage(app, feed))} refused={message} />, 409),
    }),
  );
  return pages;
}

async function readPage(app: App, name: string) {
  const feed = await namedFeed(app, name);
  return { feed, found: await foundJobsOf(app, feed), unfinished: await unfinishedBulk(app.db, 'adopt', feed) };
}
