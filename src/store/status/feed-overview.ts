// Counts the status of each feed, for display while everything runs.
import { messageOfReason, type Reason } from '../../plan/desired-change.ts';
import type { Message } from '../../plan/message.ts';
import type { FeedName, SiteName } from '../../posting/identifiers.ts';
import { ENTRY_KINDS, type EntryKind } from '../backlog/open-counts.ts';
import { WAITS_FOR_SEARCH } from '../change/site-search.ts';
import { countLive } from '../mapping/find-jobs.ts';
import type { Queryable } from '../postgres/database.ts';
import { listPulls, type PullRow } from '../pull/pull-history.ts';
import { ENTRY_COUNTS } from '../review/review-totals.ts';
import { undeletedOrphans } from '../site/orphan-site-jobs.ts';

/** Status of one feed. */
export interface FeedOverview {
  readonly feed: FeedName;
  readonly site: SiteName;
  /** Live site jobs. */
  readonly live: number;
  readonly ready: number;
  readonly sending: number;
  readonly in_doubt: number;
  readonly held: number;
  readonly rejected: number;
  readonly failed: number;
  readonly unreadable: number;
  readonly duplicates: number;
  /** Postings and unreadable records that a person discarded, so the site differs from the feed. */
  readonly discarded: number;
  /** Age of the oldest held change, and of the oldest doubt, in milliseconds. */
  readonly heldForMs: number | undefined;
  readonly inDoubtForMs: number | undefined;
  readonly holdReason: Message | undefined;
  readonly lastPull: PullRow | undefined;
  /** Progress or failure of the site search for jobs of the feed; the feed's first create waits for it. */
  readonly search: Message | undefined;
  /** Why nothing of it is created, if the search has failed for a while. */
  readonly unsearched: Message | undefined;
  /** Site jobs of no posting that the site does not delete. */
  readonly undeleted: number;
  /** Why its creates and deletes wait, or some of them, if its keys seem to have changed. */
  readonly rekey: Message | undefined;
  /** All of its creates and deletes wait for that. */
  readonly rekeyAll: boolean;
  /** Likely mistakes of the mapping, found when all records were last read. */
  readonly warnings: readonly string[];
  /** A person took the feed out of service. */
  readonly retired: boolean;
}

/** These feeds, and all others in the database. @param only of these, the one feed to read */
export async function readOverview(
  db: Queryable,
  configured: ReadonlyMap<FeedName, SiteName>,
  only?: FeedName,
): Promise<FeedOverview[]> {
  const [known, live, undeleted] = await Promise.all([
    db.query<{ feed: FeedName; site: SiteName; retired: boolean }>(
      'select feed, site, retired_at is not null as retired from feed_state',
    ),
    countLive(db),
    undeletedOrphans(db),
  ]);
  const retired = new Set(known.filter((row) => row.retired).map((row) => row.feed));
  // If the database has another site for the feed than the configuration, its data belongs to that site.
  const sites = new Map([...configured, ...known.map(({ feed, site }) => [feed, site] as const)]);
  const overviews: FeedOverview[] = [];
  for (const feed of [...sites.keys()].filter((each) => only === undefined || each === only).sort()) {
    const counted = await readFeed(db, feed, sites.get(feed) as SiteName);
    overviews.push({
      ...counted,
      live: live.get(feed) ?? 0,
      undeleted: undeleted.get(feed) ?? 0,
      retired: retired.has(feed),
    });
  }
  return overviews;
}

async function readFeed(
  db: Queryable,
  feed: FeedName,
  site: SiteName,
): Promise<Omit<FeedOverview, 'retired' | 'live' | 'undeleted'>> {
  const [[lastPull], counts, others, [state]] = await Promise.all([
    listPulls(db, feed, 1),
    countReview(db, feed),
    countOthers(db, feed, site),
    db.query<{
      note: Message | null;
      unsearched: boolean | null;
      rekey: Message | null;
      all: boolean;
      warnings: readonly string[];
    }>(
      `select case when site_checked_at is null then site_check_note end as note, ${WAITS_FOR_SEARCH} as unsearched, rekey_note as rekey,
         rekey_since is not null and rekey_all as all, warnings
       from feed_state f where feed = $1`,
      [feed],
    ),
  ]);
  const { held, in_doubt, rejected, failed, unreadable, duplicate } = counts;
  return {
    feed,
    site,
    ...others,
    held,
    in_doubt,
    rejected,
    failed,
    unreadable,
    duplicates: duplicate,
    heldForMs: held === 0 ? undefined : await oldestMs(db, site, feed, 'held'),
    inDoubtForMs: in_doubt === 0 ? undefined : await oldestMs(db, site, feed, 'in_doubt'),
    holdReason: held === 0 ? undefined : await newestHoldReason(db, feed),
    lastPull,
    search: state?.note ?? undefined,
    unsearched: state?.unsearched === true ? (state.note ?? '') : undefined,
    rekey: state?.rekey ?? undefined,
    rekeyAll: state?.all === true,
    warnings: state?.warnings ?? [],
  };
}

/** The entries that wait for a person, of each kind. */
async function countReview(db: Queryable, feed: FeedName): Promise<Readonly<Record<EntryKind, number>>> {
  const rows = await db.query<{ kind: EntryKind; n: number }>(
    `select kind, sum(n)::bigint as n from ${ENTRY_COUNTS} where feed = $1 and not discarded group by kind`,
    [feed],
  );
  const countOf = (kind: EntryKind) => rows.find((row) => row.kind === kind)?.n ?? 0;
  return Object.fromEntries(ENTRY_KINDS.map((kind) => [kind, countOf(kind)])) as Record<EntryKind, number>;
}

type NoEntries = Pick<FeedOverview, 'ready' | 'sending' | 'discarded'>;

/** Each part uses its own index, so that counting the few changes in flight does not scan a large backlog. */
async function countOthers(db: Queryable, feed: FeedName, site: SiteName): Promise<NoEntries> {
  const [row] = await db.query<NoEntries>(
    `select (select count(*) from change where feed = $1 and state = 'ready') as ready,
       (select count(*) from change where site = $2 and feed = $1 and state = 'sending') as sending,
       (select count(*) from change where feed = $1 and state = 'discarded' and desired = 'present' and not gone)
         + (select coalesce(sum(records), 0)::bigint from record_problem
            where feed = $1 and discarded and kind <> 'duplicate') as discarded`,
    [feed, site],
  );
  return row ?? { ready: 0, sending: 0, discarded: 0 };
}

async function oldestMs(
  db: Queryable,
  site: SiteName,
  feed: FeedName,
  state: 'held' | 'in_doubt',
): Promise<number | undefined> {
  const [row] = await db.query<{ age: number | null }>(
    `select (extract(epoch from clock_timestamp() - min(since)) * 1000)::float8 as age
     from change where site = $1 and feed = $2 and state = $3 and state <> 'ready'`,
    [site, feed, state],
  );
  return row?.age ?? undefined;
}

/** Why the deletes of a feed are held: the reason of the newest. */
export async function newestHoldReason(db: Queryable, feed: FeedName): Promise<Message | undefined> {
  const [row] = await db.query<{ reason: Reason | null }>(
    // With its site, the newest is the last one of an index range.
    `select reason from change where site = (select site from feed_state where feed = $1) and feed = $1 and state = 'held'
     order by since desc, id desc limit 1`,
    [feed],
  );
  return row?.reason == null ? undefined : messageOfReason(row.reason);
}
