// Finds feeds that the books know and the configuration does not name any more: renamed, mostly, or taken out.
import type { FeedName, SiteName } from '../posting/identifiers.ts';
import type { Queryable } from './database.ts';
import { SERVED_FEEDS } from './processes.ts';

/**
 * A feed that was mirrored before. Those that a person took out of service are not among them, nor those that another
 * live process is configured with.
 */
export interface LeftFeed {
  readonly feed: FeedName;
  readonly site: SiteName;
  /** Site jobs that are live, and that nobody keeps as any feed has them. */
  readonly live: number;
  /** Changes that nobody sends. */
  readonly unsent: number;
}

export async function leftFeeds(db: Queryable, configured: Iterable<FeedName>): Promise<LeftFeed[]> {
  return db.query<LeftFeed>(
    `select f.feed, f.site, (select count(*) from mapping m where m.feed = f.feed) as live,
       (select count(*) from change c where c.feed = f.feed and c.state in ('ready', 'sending', 'in_doubt')) as unsent
     from feed_state f where f.feed <> all($1::text[]) and f.retired_at is null
       and f.feed not in (${SERVED_FEEDS}) order by f.feed`,
    [[...configured]],
  );
}

/**
 * The left feeds with live jobs on the site, if the books have nothing of this feed: under its new name all postings of such
 * a feed would be created a second time.
 */
export async function possibleFormerNames(
  db: Queryable,
  feed: FeedName,
  site: SiteName,
  configured: Iterable<FeedName>,
): Promise<LeftFeed[]> {
  const [known] = await db.query<{ any: boolean }>(
    'select exists(select from mapping where feed = $1) or exists(select from change where feed = $1) as any',
    [feed],
  );
  if (known?.any === true) return [];
  return (await leftFeeds(db, configured)).filter((left) => left.site === site && left.live > 0);
}
