// The page of the jobs that a search of the site found for a feed.
import { Hono } from 'hono';
import { adoptFoundFor, foundJobsOf } from '../../adopt-found.ts';
import { requireFeed } from '../../api/known.ts';
import { ProblemError } from '../../problem.ts';
import type { WebEnv } from '../../web-env.ts';
import { actOnForm, type PageContext, showPage } from '../page.tsx';
import { malformed } from '../review/read-decision.ts';
import { FoundPage } from './found.tsx';

export function foundPages({ app, control }: PageContext): Hono<WebEnv> {
  const pages = new Hono<WebEnv>();
  pages.get(
    '/doubts/found',
    showPage(async ({ visit, query }) => {
      const feed = await requireFeed(app, expectFeed(query('feed')));
      return <FoundPage visit={visit} feed={feed} found={await foundJobsOf(app, feed)} />;
    }),
  );
  pages.post(
    '/doubts/found',
    actOnForm('review', async ({ c, visit, form, actor }) => {
      const feed = await requireFeed(app, expectFeed(form.one('feed')));
      const mark = form.one('mark');
      if (mark === undefined) throw malformed('mark', 'is missing: open the page again');
      const { adopted, refused } = await adoptFoundFor({ app, control, actor }, feed, mark);
      const props = { visit, feed, found: await foundJobsOf(app, feed), adopted: adopted.length, refused };
      return c.html(<FoundPage {...props} />, refused.length > 0 ? 409 : 200);
    }),
  );
  return pages;
}

function expectFeed(name: string | undefined): string {
  if (name === undefined) throw new ProblemError({ status: 400, detail: 'feed must be the name of a feed' });
  return name;
}
