// The page of the jobs that a search of the site found for a feed.
import { Hono } from 'hono';
import { textOf } from '../../../plan/message.ts';
import type { FeedName } from '../../../posting/identifiers.ts';
import type { App } from '../../../runtime/app.ts';
import { unfinishedBulk } from '../../../store/review/bulk-actions.ts';
import { foundJobsOf, startAdoptingFor } from '../../adopt-found.ts';
import { requireFeed } from '../../api/known.ts';
import { ProblemError } from '../../problem.ts';
import type { WebEnv } from '../../web-env.ts';
import { pageAddress } from '../addresses.ts';
import { actOnForm, type PageContext, showPage } from '../page.tsx';
import { malformed } from '../review/read-decision.ts';
import { FoundPage } from './found.tsx';

export function foundPages({ app, control }: PageContext): Hono<WebEnv> {
  const pages = new Hono<WebEnv>();
  pages.get(
    '/doubts/found',
    showPage(async ({ visit, query }) => {
      const feed = await requireFeed(app, expectFeed(query('feed')));
      return <FoundPage visit={visit} {...(await readPage(app, feed))} />;
    }),
  );
  pages.post(
    '/doubts/found',
    actOnForm('review', async ({ c, visit, form, actor, goTo }) => {
      const feed = await requireFeed(app, expectFeed(form.one('feed')));
      const mark = form.one('mark');
      if (mark === undefined) throw malformed('mark', 'is missing: open the page again');
      const start = await startAdoptingFor({ app, control, actor }, feed, mark);
      if (start.kind === 'started') return goTo(pageAddress.bulkAction(start.bulk.id));
      return c.html(<FoundPage visit={visit} {...(await readPage(app, feed))} refused={textOf(start.message)} />, 409);
    }),
  );
  return pages;
}

const readPage = async (app: App, feed: FeedName) => ({
  feed,
  found: await foundJobsOf(app, feed),
  unfinished: await unfinishedBulk(app.db, 'adopt', feed),
});

function expectFeed(name: string | undefined): string {
  if (name === undefined) throw new ProblemError({ status: 400, detail: 'feed must be the name of a feed' });
  return name;
}
