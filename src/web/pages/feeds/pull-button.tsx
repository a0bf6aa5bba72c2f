// The button that pulls a feed now.
import type { FeedStatus } from '../../../review/read-model/feed.ts';
import { pageAddress } from '../addresses.ts';
import { Csrf, mayPull, type Visit } from '../layout.tsx';

/** Absent for viewers, for feeds that this process can't pull, and while one is stopped or being pulled. */
export const PullButton = ({ visit, feed, stopped }: { visit: Visit; feed: FeedStatus; stopped: boolean }) => {
  if (!mayPull(visit) || !feed.configured || stopped || feed.lastPull?.status === 'running') return null;
  return (
    <form method="post" action={visit.prefix + pageAddress.startPull()}>
      <Csrf visit={visit} />
      <input type="hidden" name="feed" value={feed.feed} />
      <button type="submit">{`Pull ${feed.feed} now`}</button>
    </form>
  );
};
