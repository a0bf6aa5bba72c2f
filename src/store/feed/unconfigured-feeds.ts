// Finds feeds in the database that the configuration no longer names: mostly renamed ones, or removed ones.
import type { FeedName, SiteName } from '../../posting/identifiers.ts';
import { LIVE_WORKERS, SERVED_FEEDS } from '../locks/processes.ts';
import { type Queryable, readFlag, readValue } from '../postgres/database.ts';

/** A feed that was mirrored before, is in no running configuration, and is not retired. */
export interface UnconfiguredFeed {
  readonly feed: FeedName;
  readonly site: SiteName;
  /** Live site jobs, which no feed maintains any more. */
  readonly live: number;
  /** Changes that nobody sends. */
  readonly unsent: number;
  /** Creates in doubt or in flight, and orphan site jobs: the site may have a job for each. */
  readonly uncertain: number;
}

const LEFT = `select f.feed, f.site, (select count(*) from mapping m where m.feed = f.feed) as live,
    (select count(*) from change c where c.feed = f.feed and c.state in ('ready', 'sending', 'in_doubt')) as unsent,
    (select count(*) from change c where c.feed = f.feed and c.attempt_operation = 'create')
      + (select count(*) from orphan_site_job s where s.feed = f.feed) as uncertain
  from feed_state f where f.feed <> all($1::text[]) and f.retired_at is null`;

/** Excludes feeds that another live process is configured with. */
export async function unconfiguredFeeds(db: Queryable, configured: Iterable<FeedName>): Promise<UnconfiguredFeed[]> {
  return db.query<UnconfiguredFeed>(`${LEFT} and f.feed not in (${SERVED_FEEDS}) order by f.feed`, [[...configured]]);
}

/** A feed as it is configured now. */
export interface NamedFeed {
  readonly feed: FeedName;
  readonly site: SiteName;
  /** Address of that site. */
  readonly address: string;
  /** Digest of the feed's source. */
  readonly source: string;
}

/** Other names that the database may know a feed by. */
export interface OtherNames {
  /**
   * Left feeds with jobs, or possible jobs, on the feed's site: if the feed was renamed, all its postings would be created a second
   * time. A feed that another live process still serves is included only if both have the same source.
   */
  readonly former: readonly UnconfiguredFeed[];
  /** The feed's new name, if a person renamed it and this configuration, which is then an older one, does not know that. */
  readonly present: FeedName | undefined;
}

/** None, if the database has something of the feed. A site of another name at the same address counts as the same. */
export async function otherNames(
  db: Queryable,
  { feed, site, address, source }: NamedFeed,
  configured: Iterable<FeedName>,
): Promise<OtherNames> {
  if (await isKnown(db, feed)) return { former: [], present: undefined };
  const names = [...configured];
  const isOfSite = 'f.site = $2 or exists (select from site_state s where s.site = f.site and s.address = $3)';
  const [left, present] = await Promise.all([
    db.query<UnconfiguredFeed>(
      `${LEFT} and (${isOfSite})
         and (f.feed not in (${SERVED_FEEDS}) or exists (select from process p join (${LIVE_WORKERS}) live using (worker)
           where p.parts->>('source of feed ' || f.feed) = $4))
       order by f.feed`,
      [names, site, address, source],
    ),
    readValue<FeedName>(
      db,
      `select f.feed from feed_state f join audit a on a.feed = f.feed
       where f.feed <> all($1::text[]) and f.retired_at is null and a.action = 'rename feed' and a.detail->>'from' = $4 and (${isOfSite})
       order by a.id desc limit 1`,
      [names, site, address, feed],
    ),
  ]);
  return { former: left.filter(({ live, uncertain }) => live + uncertain > 0), present };
}

/** Whether the database has a job of the feed, or something to be sent for it. */
const isKnown = (db: Queryable, feed: FeedName): Promise<boolean> =>
  readFlag(
    db,
    `select exists(select from mapping where feed = $1) or exists(select from change where feed = $1)
       or exists(select from orphan_site_job where feed = $1) as any`,
    [feed],
  );

/** A feed outside the configuration for which the site may have unmapped jobs. */
export interface DoubtfulFeed {
  readonly feed: FeedName;
  /** Creates in doubt or in flight. */
  readonly creates: number;
  readonly orphans: number;
}

/**
 * Feeds outside the configuration, including retired ones, for which this feed's site may have unmapped jobs. A site of
 * another name at the same address counts as the same.
 */
export async function doubtfulFeeds(
  db: Queryable,
  { site, address }: Pick<NamedFeed, 'site' | 'address'>,
  configured: Iterable<FeedName>,
): Promise<DoubtfulFeed[]> {
  return db.query<DoubtfulFeed>(
    `select * from (
       select f.feed,
         (select count(*) from change c where c.feed = f.feed and (c.state = 'in_doubt' or c.attempt_operation = 'create')) as creates,
         (select count(*) from orphan_site_job s where s.feed = f.feed) as orphans
       from feed_state f where f.feed <> all($1::text[]) and f.feed not in (${SERVED_FEEDS})
         and (f.site = $2 or exists (select from site_state s where s.site = f.site and s.address = $3))) left_feed
     where creates + orphans > 0 order by feed`,
    [[...configured], site, address],
  );
}
