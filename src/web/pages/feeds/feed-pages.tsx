// The page of one feed, and its forms: pull it now, resume it.
import { Hono } from 'hono';
import { resumeStoppedFeed } from '../../../operations/feeds.ts';
import { showPulls, startFeedPull } from '../../../operations/pulls.ts';
import { readFeedStatus } from '../../../operations/status.ts';
import type { FeedName } from '../../../posting/identifiers.ts';
import { recentPulls } from '../../../store/pull/pull-history.ts';
import { ProblemError } from '../../problem.ts';
import type { WebEnv } from '../../web-env.ts';
import { pageAddress } from '../addresses.ts';
import { attentionOf } from '../overview/attention.tsx';
import { askedBy, operationForm, type PageContext, showPage } from '../page.tsx';
import { FeedPage } from './feed.tsx';

const SHOWN_PULLS = 10;
const DRAWN_PULLS = 40;

export function feedPages(context: PageContext): Hono<WebEnv> {
  const { app } = context;
  const { db, config } = app;
  const pages = new Hono<WebEnv>();
  pages.get(
    '/feed',
    showPage(async ({ visit, query, actor }) => {
      const { feed, status } = await readFeedStatus(app, expectFeed(query('feed')));
      const name = feed.feed;
      return (
        <FeedPage
          visit={visit}
          feed={feed}
          config={config.feeds.get(name)}
          faults={config.brokenFeeds.get(name)?.complaints ?? []}
          attention={attentionOf(status).filter(
            ({ place, isPause }) => 'feed' in place && place.feed === name && isPause !== true,
          )}
          pulls={(await showPulls.readPage({ feed: name }, { limit: SHOWN_PULLS }, askedBy(context, actor))).items}
          drawn={(await recentPulls(db, [name], DRAWN_PULLS)).get(name) ?? []}
        />
      );
    }),
  );
  pages.post(
    pageAddress.startPull(),
    operationForm(context, startFeedPull, {
      required: ['feed'],
      next: ({ pull }) => pageAddress.pull(pull),
      // Whoever presses the button twice sees the pull that it started.
      async refused(why, { goTo }) {
        if (typeof why.now.pull !== 'number') throw why;
        return goTo(pageAddress.pull(why.now.pull));
      },
    }),
  );
  pages.post(
    pageAddress.resumeFeed(),
    operationForm(context, resumeStoppedFeed, {
      required: ['undo'],
      next: ({ feed }) => pageAddress.feed(feed as FeedName),
    }),
  );
  return pages;
}

function expectFeed(given: string | undefined): string {
  if (given !== undefined) return given;
  throw new ProblemError({ status: 400, detail: 'the address or form must name a feed' });
}
