// Explains what happens to the jobs and changes of feeds that are no longer in the configuration.
import { namedFeeds } from '../config/config.ts';
import { type Message, messageOf } from '../plan/message.ts';
import { plural } from '../plan/plural.ts';
import type { App } from '../runtime/app.ts';
import { type UnconfiguredFeed, unconfiguredFeeds } from '../store/feed/unconfigured-feeds.ts';

/** One message per such feed with unsent changes. */
export async function leftBehind({ db, config }: App): Promise<Message[]> {
  const left = await unconfiguredFeeds(db, namedFeeds(config));
  return left.filter(({ unsent }) => unsent > 0).map(describeLeft);
}

export const describeLeft = ({ feed, live, unsent }: Pick<UnconfiguredFeed, 'feed' | 'live' | 'unsent'>): Message =>
  messageOf(`feed ${feed} is no longer in the configuration: ${jobsStay(live)}${notSent(unsent)}`, [
    { words: 'If it was renamed', action: { kind: 'rename_feed', feed, to: null } },
    { words: 'If it was removed on purpose', action: { kind: 'retire_feed', feed } },
  ]);

const notSent = (changes: number): string => {
  if (changes === 0) return '';
  return changes === 1 ? ', and 1 change is not sent' : `, and ${changes} changes are not sent`;
};

const jobsStay = (live: number): string =>
  `${plural(live, 'job')} ${live === 1 ? 'stays as it is' : 'stay as they are'}`;
