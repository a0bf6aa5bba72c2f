// The overview: what needs attention, each feed with its numbers and pulls, and each site.
import type { Hono } from 'hono';
import { shareReading } from '../../flow/share-reading.ts';
import { type FeedStatus, readStatus, type Status, whyNotPulledHere } from '../../operations/status.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { type BriefPull, recentPulls } from '../../store/pull/pull-history.ts';
import type { WebEnv } from '../web-env.ts';
import { AttentionList, attentionOf } from './attention.tsx';
import { linkTo, mayConfigure, pageAddress } from './parts/addresses.ts';
import { FeedNumbers, PullButton } from './parts/feed-numbers.tsx';
import { Layout } from './parts/layout.tsx';
import { type PageContext, showPage } from './parts/page.tsx';
import { Fact, PULL_STATUS, PullStatusLabel, SiteStatusLabel, When } from './parts/parts.tsx';

/** So many fit beside the numbers of a feed, also on a phone. */
const SHOWN_PULLS = 20;

export function overviewPages(pages: Hono<WebEnv>, { app }: PageContext): void {
  pages.get(
    '/',
    showPage(async () => {
      const status = await readStatus(app);
      const names = status.feeds.map(({ feed }) => feed);
      return (
        <Overview
          status={status}
          pulls={
            await shareReading(app.config, `newest pulls ${names.join(' ')}`, () =>
              recentPulls(app.db, names, SHOWN_PULLS),
            )
          }
        />
      );
    }),
  );
}

const Overview = ({ status, pulls }: { status: Status; pulls: ReadonlyMap<FeedName, readonly BriefPull[]> }) => {
  const { feeds, sites, workers, differences } = status;
  const isRunning = feeds.some(({ last_pull: pull }) => pull?.status === 'running');
  return (
    <Layout title="Overview" section="overview">
      <div id="state" data-live={isRunning ? 'true' : undefined}>
        <AttentionList attention={attentionOf(status)} />
        <h2>Feeds</h2>
        {feeds.length === 0 && (
          <p>
            No feed is configured.
            {!mayConfigure() && (
              <>
                {' A user with the role admin, whom '}
                <code>web.users</code>
                {' names, adds one here; on the command line, '}
                <code>init</code>
                {' does.'}
              </>
            )}
          </p>
        )}
        <ul class="cards">
          {feeds.map((feed) => (
            <FeedCard feed={feed} pulls={pulls.get(feed.feed) ?? []} />
          ))}
        </ul>
        {mayConfigure() && (
          <p>
            <a class="button" href={linkTo(pageAddress.newFeed())}>
              Add a feed
            </a>
          </p>
        )}
        <h2>Sites</h2>
        <ul class="cards">
          {sites.map((site) => (
            <li class="card">
              <h3>
                <a href={linkTo(pageAddress.site(site.site))}>{site.site}</a>
              </h3>
              <p>
                <SiteStatusLabel site={site} />
              </p>
            </li>
          ))}
        </ul>
        <p class="hint">
          {workers === 1 ? '1 process sends.' : `${workers} processes send.`}
          {differences !== null && ` ${differences}`}
        </p>
      </div>
    </Layout>
  );
};

const FeedCard = ({ feed, pulls }: { feed: FeedStatus; pulls: readonly BriefPull[] }) => {
  const { last_pull: pull } = feed;
  return (
    <li class="card">
      <div class="head">
        <h3>
          <a href={linkTo(pageAddress.feed(feed.feed))}>{feed.feed}</a>
        </h3>
        <span class="quiet">
          {'to '}
          <a href={linkTo(pageAddress.site(feed.site))}>{feed.site}</a>
        </span>
        {!feed.configured && <span class="status warn">{whyNotPulledHere(feed)}</span>}
        {feed.stopped !== null && <span class="status warn">stopped</span>}
        {feed.pauses.length > 0 && <span class="status warn">paused</span>}
      </div>
      <FeedNumbers feed={feed} />
      <Sparkline pulls={pulls} />
      <dl class="facts">
        <Fact name="Last pull">
          {pull === null ? (
            'never'
          ) : (
            <>
              <a href={linkTo(pageAddress.pull(pull.pull))}>
                <When at={pull.started_at} />
              </a>
              {', '}
              <PullStatusLabel pull={pull} />
            </>
          )}
        </Fact>
        <Fact name="Last complete">{feed.last_complete === null ? 'never' : <When at={feed.last_complete} />}</Fact>
        <Fact name="Next pull">
          {feed.stopped !== null ? (
            'none until it is resumed'
          ) : feed.pauses.some(({ pulls: stops }) => stops) ? (
            'none while it is paused'
          ) : feed.next_run === null ? (
            'no schedule'
          ) : (
            <When at={feed.next_run} />
          )}
        </Fact>
      </dl>
      <PullButton feed={feed} />
    </li>
  );
};

// A picture of a feed's newest pulls: how many postings each saw, and how it ended. Says the same as text.

const STEP = 8;
const BAR = 6;
const HEIGHT = 32;
/** Even a pull that saw nothing is visible. */
const LEAST = 3;

export const Sparkline = ({ pulls }: { pulls: readonly BriefPull[] }) => {
  if (pulls.length === 0) return null;
  const most = Math.max(1, ...pulls.map(({ seen }) => seen));
  const told = pulls.map(({ status, seen }) =>
    status === 'failed' ? 'failed' : `${seen} (${PULL_STATUS[status].words})`,
  );
  return (
    <svg
      class="spark"
      role="img"
      aria-label={`Postings seen by the last ${pulls.length} pulls, oldest first: ${told.join(', ')}`}
      width={pulls.length * STEP}
      height={HEIGHT}
      viewBox={`0 0 ${pulls.length * STEP} ${HEIGHT}`}
    >
      {pulls.map(({ status, seen }, at) => {
        const height = Math.max(LEAST, Math.round((seen / most) * HEIGHT));
        return (
          <rect
            class={PULL_STATUS[status].level}
            x={at * STEP}
            y={HEIGHT - height}
            width={BAR}
            height={height}
            rx={1}
          />
        );
      })}
    </svg>
  );
};
