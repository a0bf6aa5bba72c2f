// The list of pulls.
import type { ShownPull } from '../../../operations/pulls.ts';
import type { FeedName } from '../../../posting/identifiers.ts';
import { pageAddress } from '../addresses.ts';
import { Layout, type Visit } from '../layout.tsx';
import { PullTable } from './pull-table.tsx';

export interface PullsPageProps {
  readonly visit: Visit;
  readonly pulls: readonly ShownPull[];
  readonly feed: FeedName | undefined;
  /** Where the older ones begin; `undefined`: there are none. */
  readonly older: number | undefined;
  readonly isFirst: boolean;
}

export const PullsPage = ({ visit, pulls, feed, older, isFirst }: PullsPageProps) => {
  const { prefix } = visit;
  const isRunning = pulls.some(({ status }) => status === 'running');
  return (
    <Layout title={feed === undefined ? 'Pulls' : `Pulls of ${feed}`} visit={visit} section="pulls">
      {feed !== undefined && (
        <p>
          <a href={prefix + pageAddress.feed(feed)}>The feed {feed}</a> ·{' '}
          <a href={prefix + pageAddress.pulls()}>All pulls</a>
        </p>
      )}
      <div id="pulls" data-live={isRunning ? 'true' : undefined}>
        <PullTable prefix={prefix} pulls={pulls} label="Pulls, newest first" withFeed={feed === undefined} />
      </div>
      <p class="row">
        {!isFirst && <a href={prefix + pageAddress.pulls(feed)}>Newest</a>}
        {older !== undefined && (
          <a href={prefix + pageAddress.pulls(feed, older)} rel="next">
            Older
          </a>
        )}
      </p>
    </Layout>
  );
};
