// The page of one feed, and its forms: pull it now, resume it.
import { Hono } from 'hono';
import { resumeStoppedFeed } from '../../../operations/feeds.ts';
import { startFeedPull } from '../../../operations/pulls.ts';
import type { FeedName } from '../../../posting/identifiers.ts';
import type { App } from '../../../runtime/app.ts';
import { type AttentiveStatus, readAttention } from '../../../runtime/attention.ts';
import { countedPulls, recentPulls } from '../../../store/pull/pull-history.ts';
import { notFound, requireFeed } from '../../api/known.ts';
import { ProblemError } from '../../problem.ts';
import type { WebEnv } from '../../web-env.ts';
import { pageAddress } from '../addresses.ts';
import { operationForm, type PageContext, showPage } from '../page.tsx';
import { FeedPage } from './feed.tsx';

const SHOWN_PULLS = 10;
const DRAWN_PULLS = 40;

export function feedPages(context: PageContext): Hono<WebEnv> {
  const { app } = context;
  const { db, config } = app;
  const pages = new Hono<WebEnv>();
  pages.get(
    '/feed',
    showPage(async ({ visit, query }) => {
      const { name, status, feed } = await readOne(app, query('feed'));
      return (
        <FeedPage
          visit={visit}
          feed={feed}
          config={config.feeds.get(name)}
          faults={config.brokenFeeds.get(name)?.complaints ?? []}
          stopped={status.stopped[0]}
          attention={status.attention.filter(({ place }) => 'feed' in place && place.feed === name)}
          pulls={await countedPulls(db, name, SHOWN_PULLS)}
          drawn={(await recentPulls(db, [name], DRAWN_PULLS)).get(name) ?? []}
          write={app.writeAction}
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

async function readOne(app: App, given: string | undefined) {
  const name = await requireFeed(app, expectFeed(given));
  const status: AttentiveStatus = await readAttention(app, name);
  const feed = status.feeds.find((each) => each.feed === name);
  if (feed === undefined) throw notFound(`there is no feed ${name}`);
  return { name, status, feed };
}

function expectFeed(given: string | undefined): FeedName {
  if (given !== undefined) return given as FeedName;
  throw new ProblemError({ status: 400, detail: 'the address or form must name a feed' });
}
