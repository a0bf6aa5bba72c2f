// The overview: what needs attention, each feed with its numbers and pulls, and each site.
import type { FeedName } from '../../../posting/identifiers.ts';
import type { FeedStatus } from '../../../review/read-model/feed.ts';
import type { AttentiveStatus } from '../../../runtime/attention.ts';
import type { BriefPull } from '../../../store/pull/pull-history.ts';
import { pageAddress } from '../addresses.ts';
import { FeedNumbers } from '../feeds/feed-numbers.tsx';
import { PullButton } from '../feeds/pull-button.tsx';
import { Layout, type Visit } from '../layout.tsx';
import { PullStatusLabel } from '../pull-status.tsx';
import { SiteStatusLabel } from '../site-status.tsx';
import { When } from '../when.tsx';
import { absence } from './absence.ts';
import { AttentionList } from './attention.tsx';
import { Sparkline } from './sparkline.tsx';

export interface OverviewProps {
  readonly status: AttentiveStatus;
  readonly pulls: ReadonlyMap<FeedName, readonly BriefPull[]>;
  readonly visit: Visit;
}

export const Overview = ({ status, pulls, visit }: OverviewProps) => {
  const { feeds, sites, attention, stopped, workers, differences } = status;
  const isRunning = feeds.some(({ lastPull }) => lastPull?.status === 'running');
  return (
    <Layout title="Overview" visit={visit} section="overview">
      <div id="state" data-live={isRunning ? 'true' : undefined}>
        <AttentionList prefix={visit.prefix} attention={attention} />
        <h2>Feeds</h2>
        {feeds.length === 0 && <p>No feed is configured.</p>}
        <ul class="cards">
          {feeds.map((feed) => (
            <FeedCard
              visit={visit}
              feed={feed}
              pulls={pulls.get(feed.feed) ?? []}
              stopped={stopped.some((each) => each.feed === feed.feed)}
            />
          ))}
        </ul>
        <h2>Sites</h2>
        <ul class="cards">
          {sites.map((site) => (
            <li class="card">
              <h3>
                <a href={visit.prefix + pageAddress.site(site.state.site)}>{site.state.site}</a>
              </h3>
              <p>
                <SiteStatusLabel site={site} />
              </p>
            </li>
          ))}
        </ul>
        <p class="hint">
          {workers === 1 ? '1 process sends.' : `${workers} processes send.`}
          {differences !== undefined && ` ${differences}`}
        </p>
      </div>
    </Layout>
  );
};

interface FeedCardProps {
  readonly visit: Visit;
  readonly feed: FeedStatus;
  readonly pulls: readonly BriefPull[];
  readonly stopped: boolean;
}

const FeedCard = ({ visit, feed, pulls, stopped }: FeedCardProps) => {
  const { prefix } = visit;
  const { lastPull } = feed;
  return (
    <li class="card">
      <div class="head">
        <h3>
          <a href={prefix + pageAddress.feed(feed.feed)}>{feed.feed}</a>
        </h3>
        <span class="quiet">
          {'to '}
          <a href={prefix + pageAddress.site(feed.site)}>{feed.site}</a>
        </span>
        {!feed.configured && <span class="status warn">{absence(feed)}</span>}
        {stopped && <span class="status warn">stopped</span>}
      </div>
      <FeedNumbers prefix={prefix} feed={feed} />
      <Sparkline pulls={pulls} />
      <dl class="facts">
        <dt>Last pull</dt>
        <dd>
          {lastPull === undefined ? (
            'never'
          ) : (
            <>
              <a href={prefix + pageAddress.pull(lastPull.id)}>
                <When at={lastPull.startedAt} />
              </a>
              {', '}
              <PullStatusLabel pull={lastPull} />
            </>
          )}
        </dd>
        <dt>Last complete</dt>
        <dd>{feed.history?.lastComplete === undefined ? 'never' : <When at={feed.history.lastComplete.at} />}</dd>
        <dt>Next pull</dt>
        <dd>
          {stopped ? (
            'none until it is resumed'
          ) : feed.nextRun === undefined ? (
            'no schedule'
          ) : (
            <When at={feed.nextRun} />
          )}
        </dd>
      </dl>
      <PullButton visit={visit} feed={feed} stopped={stopped} />
    </li>
  );
};
