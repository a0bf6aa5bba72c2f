// The numbers of a feed: its live jobs, and what is open, each with the page about it.
import type { FeedStatus } from '../../../review/read-model/feed.ts';
import { pageAddress } from '../addresses.ts';

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
export const FeedNumbers = ({ prefix, feed }: { prefix: string; feed: FeedStatus }) => (
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
            <a href={prefix + address}>
              <b>{n}</b> {words}
            </a>
          )}
        </li>
      ))}
  </ul>
);
