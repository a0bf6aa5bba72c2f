// Explains what happens to the jobs and changes of feeds that are no longer in the configuration.
import { namedFeeds } from '../config/config.ts';
import { plural } from '../plan/plural.ts';
import type { App } from '../runtime/app.ts';
import { type LeftFeed, leftFeeds } from '../store/feed/left-feeds.ts';

/** One text per such feed with unsent changes. Commands in it still lack their `--config` option. */
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
  return changes === 1 ? ', and 1 change is not sent' : `, and ${changes} changes are not sent`;
};

const jobsStay = (live: number): string =>
  `${plural(live, 'job')} ${live === 1 ? 'stays as it is' : 'stay as they are'}`;
