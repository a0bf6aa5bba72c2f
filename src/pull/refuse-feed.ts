// Says why a feed must not be pulled or planned as it is configured, by what the books have of it and of other feeds.
import { plural } from '../plan/plural.ts';
import type { FeedName, SiteName } from '../posting/identifiers.ts';
import type { FeedState } from '../store/feed/feed-state.ts';
import { type LeftFeed, possibleFormerNames } from '../store/feed/left-feeds.ts';
import type { Queryable } from '../store/postgres/database.ts';
import type { FeedSetup } from './feed-setup.ts';

/**
 * A message for people; `undefined`: it may be pulled. Job IDs of one site mean nothing on another (law 4), and a feed under
 * a new name has none, so that all its postings would be made again (law 1).
 */
export async function refuseFeed(
  db: Queryable,
  state: FeedState | undefined,
  { feed, site, address, sourceDigest, configured }: FeedSetup,
): Promise<string | undefined> {
  if (state !== undefined && state.site !== site) {
    return (
      `feed ${feed} was mirrored into site ${state.site} so far, and its job IDs are that site's: ` +
      `set "site" back to ${state.site}, or mirror into ${site} under a new feed name`
    );
  }
  const former = await possibleFormerNames(db, { feed, site, address, source: sourceDigest }, configured);
  return former.length === 0 ? undefined : refuseNewName(feed, site, former);
}

/** Why a feed that is new is not pulled while others that have no configuration any more could be it. */
export function refuseNewName(feed: FeedName, site: SiteName, former: readonly LeftFeed[]): string {
  const names = former.map((left) => `${left.feed} (${jobsOf(left)} on site ${left.site})`);
  return [
    `feed ${feed} is new, and the configuration no longer names ${names.join(', ')}`,
    `Nothing is sent for ${feed}, so that no job is made twice`,
    ...former.flatMap(({ feed: left, site: its }) => [
      ...(its === site ? [] : [`Site ${site} is at the address of site ${its}; give it that name again first`]),
      `If ${feed} is the new name of ${left}: jobmirror feeds rename ${left} ${feed}`,
      `If it is not, and the jobs of ${left} are to stay: jobmirror feeds retire ${left}`,
    ]),
  ].join('. ');
}

const jobsOf = ({ live, uncertain }: LeftFeed): string =>
  [plural(live, 'live job'), ...(uncertain === 0 ? [] : [`${uncertain} more that may have been made`])].join(', ');
