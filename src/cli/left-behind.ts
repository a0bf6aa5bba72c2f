// Says of feeds that the configuration does not name any more what becomes of their jobs and changes.
import { namedFeeds } from '../config/config.ts';
import { plural } from '../plan/plural.ts';
import type { App } from '../runtime/app.ts';
import { type LeftFeed, leftFeeds } from '../store/feed/left-feeds.ts';

/** A sentence for each of these feeds of which changes wait that nobody sends; commands in it are to be completed. */
export async function leftBehind({ db, config }: App): Promise<string[]> {
  const left = await leftFeeds(db, namedFeeds(config));
  return left.filter(({ unsent }) => unsent > 0).map(describeLeft);
}

export const describeLeft = ({ feed, live, unsent }: Pick<LeftFeed, 'feed' | 'live' | 'unsent'>): string =>
  [
    `feed ${feed} is no longer in the configuration: ${jobsStay(live)}${notSent(unsent)}`,
    `If it was renamed: jobmirror feeds rename ${feed} NAME`,
    `If it was removed on purpose: jobmirror feeds retire ${feed}`,
  ].join('. ');

const notSent = (changes: number): string => {
  if (changes === 0) return '';
  return changes === 1 ? ', and 1 change of it is not sent' : `, and ${changes} changes of it are not sent`;
};

const jobsStay = (live: number): string =>
  `${plural(live, 'job')} of it ${live === 1 ? 'stays as it is' : 'stay as they are'}`;
