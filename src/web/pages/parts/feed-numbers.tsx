// The parts of a feed's status that overview and feed share: its live jobs and what is open, and the button that pulls it now.
import type { FeedStatus } from '../../../operations/status.ts';
import { linkTo, mayPull, pageAddress } from './addresses.ts';
import { PostForm } from './layout.tsx';

interface Count {
  readonly words: string;
  readonly n: number;
  readonly level: 'warn' | '';
  readonly address?: string;
}

function countsOf(feed: FeedStatus): Count[] {
  const { feed: name } = feed;
  const inReview = (kind: string) => pageAddress.review({ feed: name, kind });
  return [
    { words: 'live', n: feed.live, level: '', address: pageAddress.jobs({ feed: name }) },
    { words: 'to send', n: feed.ready + feed.sending, level: '', address: pageAddress.queues() },
    { words: 'held', n: feed.held, level: 'warn', address: pageAddress.held(name) },
    { words: 'in doubt', n: feed.in_doubt, level: 'warn', address: pageAddress.doubts(name) },
    { words: 'rejected', n: feed.rejected, level: 'warn', address: inReview('rejected') },
    { words: 'failed', n: feed.failed, level: 'warn', address: inReview('failed') },
    { words: 'unreadable', n: feed.unreadable, level: 'warn', address: inReview('unreadable') },
    { words: 'duplicate', n: feed.duplicates, level: 'warn', address: inReview('duplicate') },
    {
      words: 'discarded',
      n: feed.discarded,
      level: '',
      address: pageAddress.review({ feed: name, discarded: 'true' }),
    },
  ];
}

/** Live jobs and what is to be sent always, the others if there are any. */
export const FeedNumbers = ({ feed }: { feed: FeedStatus }) => (
  <ul class="counts">
    {countsOf(feed)
      .filter(({ n }, at) => at < 2 || n > 0)
      .map(({ words, n, level, address }) => (
        <li class={n > 0 ? level : ''}>
          {address === undefined || n === 0 ? (
            <>
              <b>{n}</b> {words}
            </>
          ) : (
            <a href={linkTo(address)}>
              <b>{n}</b> {words}
            </a>
          )}
        </li>
      ))}
  </ul>
);

/** Absent for viewers, for feeds that this process can't pull, and while one is stopped, paused with its pulls, or being pulled. */
export const PullButton = ({ feed }: { feed: FeedStatus }) => {
  if (feed.pauses.some(({ pulls }) => pulls)) return null;
  if (!mayPull() || !feed.configured || feed.stopped !== null || feed.last_pull?.status === 'running') return null;
  return (
    <PostForm action={pageAddress.startPull()} hidden={{ feed: feed.feed }}>
      <button type="submit">{`Pull ${feed.feed} now`}</button>
    </PostForm>
  );
};
