// What a person should know about matches: why there may be other postings that a job belongs to.
import type { Message } from '../../plan/message.ts';
import { shortfallText } from '../../review/match-jobs.ts';
import type { App } from '../app.ts';
import type { Adopting } from './open-adopting.ts';
import { unreadOthers } from './read-others.ts';

/** @param shortfalls why the feed may have further postings */
export async function matchNotes(
  app: App,
  adopting: Pick<Adopting, 'feed' | 'site'>,
  shortfalls: readonly Message[],
): Promise<string[]> {
  const unread = await unreadOthers(app, adopting);
  return [
    ...(unread.length === 0
      ? []
      : [
          `Postings of ${unread.join(', ')}, also of site ${adopting.site.name}, were not compared: no complete pull has read them yet.`,
        ]),
    ...(shortfalls.length === 0
      ? []
      : [
          `The feed was not read completely (${shortfallText(shortfalls)}): jobs count as certain only by their reference.`,
        ]),
  ];
}
