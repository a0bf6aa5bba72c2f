// Counts the status of each feed, for display while everything runs.
import { messageOfReason, type Reason } from '../../plan/desired-change.ts';
import type { Message } from '../../plan/message.ts';
import type { FeedName, SiteName } from '../../posting/identifiers.ts';
import { ENTRY_KINDS, type EntryKind, isAsked } from '../backlog/open-counts.ts';
import { WAITS_FOR_SEARCH } from '../change/site-search.ts';
import { LIVE_WORKERS } from '../locks/processes.ts';
import { countLive } from '../mapping/find-jobs.ts';
import { type Queryable, readColumn } from '../postgres/database.ts';
import { newestPulls, type PullRow } from '../pull/pull-history.ts';
import { ENTRY_COUNTS } from '../review/review-totals.ts';
import { undeletedOrphans } from '../site/orphan-site-jobs.ts';

/** Status of one feed. */
export interface FeedOverview {
  readonly feed: FeedName;
  readonly site: SiteName;
  /** Live site jobs. */
  readonly live: number;
  readonly ready: number;
  /** How many of these no process may send: creates in question while keys seem to have changed, and what waits for its posting's return. */
  readonly unsendable: number;
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
  const feeds = [...sites.keys()].filter((each) => only === undefined || each === only).sort();
  const [lastPulls, waiting, others] = await Promise.all([
    newestPulls(db, feeds),
    countReview(db, feeds),
    readOthers(db, feeds, sites),
  ]);
  return others.map(({ feed, site, note, unsearched, rekey, heldForMs, inDoubtForMs, holdReason, ...other }) => {
    const { held, in_doubt, duplicate: duplicates, ...entries } = { ...NO_ENTRIES, ...waiting.get(feed) };
    return {
      feed,
      site,
      ...other,
      ...entries,
      held,
      in_doubt,
      duplicates,
      live: live.get(feed) ?? 0,
      undeleted: undeleted.get(feed) ?? 0,
      retired: retired.has(feed),
      heldForMs: held === 0 ? undefined : (heldForMs ?? undefined),
      inDoubtForMs: in_doubt === 0 ? undefined : (inDoubtForMs ?? undefined),
      holdReason: held === 0 || holdReason === null ? undefined : messageOfReason(holdReason),
      lastPull: lastPulls.get(feed),
      search: note ?? undefined,
      unsearched: unsearched === true ? (note ?? '') : undefined,
      rekey: rekey ?? undefined,
    };
  });
}

const NO_ENTRIES = Object.fromEntries(ENTRY_KINDS.map((kind) => [kind, 0])) as Record<EntryKind, number>;

/** The entries that wait for a person, of each feed and kind that has some. */
async function countReview(
  db: Queryable,
  feeds: readonly FeedName[],
): Promise<ReadonlyMap<FeedName, Readonly<Partial<Record<EntryKind, number>>>>> {
  const rows = await db.query<{ feed: FeedName; kind: EntryKind; n: number }>(
    `select feed, kind, sum(n)::bigint as n from ${ENTRY_COUNTS} where feed = any($1::text[]) and not discarded group by feed, kind`,
    [feeds],
  );
  const counts = new Map<FeedName, Partial<Record<EntryKind, number>>>();
  for (const { feed, kind, n } of rows) counts.set(feed, { ...counts.get(feed), [kind]: n });
  return counts;
}

interface OthersRow
  extends Pick<
    FeedOverview,
    'feed' | 'site' | 'ready' | 'unsendable' | 'sending' | 'discarded' | 'rekeyAll' | 'warnings'
  > {
  /** Null without a held change, as `holdReason`. */
  readonly heldForMs: number | null;
  readonly inDoubtForMs: number | null;
  readonly holdReason: Reason | null;
  readonly note: Message | null;
  readonly unsearched: boolean | null;
  readonly rekey: Message | null;
}

/** In the order of the feeds. Each part uses its own index, so that counting the few changes in flight does not scan a large backlog. */
const readOthers = (
  db: Queryable,
  feeds: readonly FeedName[],
  sites: ReadonlyMap<FeedName, SiteName>,
): Promise<OthersRow[]> =>
  db.query<OthersRow>(
    `select o.feed, o.site,
       (select count(*) from change c where c.feed = o.feed and c.state = 'ready') as ready,
       (select count(*) from change c where c.feed = o.feed and c.state = 'ready' and c.gone)
         + case when f.rekey_since is null then 0 else (select count(*) from change c
             where c.feed = o.feed and c.state = 'ready' and c.operation = 'create' and not c.gone and ${isAsked('c', 'f')}) end as unsendable,
       (select count(*) from change c where c.site = o.site and c.feed = o.feed and c.state = 'sending') as sending,
       (select count(*) from change c where c.feed = o.feed and c.state = 'discarded' and c.desired = 'present' and not c.gone)
         + (select coalesce(sum(r.records), 0)::bigint from record_problem r
            where r.feed = o.feed and r.discarded and r.kind <> 'duplicate') as discarded,
       ${oldestMs('held')} as "heldForMs", ${oldestMs('in_doubt')} as "inDoubtForMs",
       (select c.reason from change c where c.site = o.site and c.feed = o.feed and c.state = 'held'
        order by c.since desc, c.id desc limit 1) as "holdReason",
       case when f.site_checked_at is null then f.site_check_note end as note, ${WAITS_FOR_SEARCH} as unsearched, f.rekey_note as rekey,
       coalesce(f.rekey_since is not null and f.rekey_all, false) as "rekeyAll", coalesce(f.warnings, '[]') as warnings
     from unnest($1::text[], $2::text[]) with ordinality o(feed, site, place) left join feed_state f on f.feed = o.feed
     order by o.place`,
    [feeds, feeds.map((feed) => sites.get(feed))],
  );

/** SQL: the age of the oldest change of a feed in this state. */
const oldestMs = (state: 'held' | 'in_doubt'): string =>
  `(select (extract(epoch from clock_timestamp() - min(c.since)) * 1000)::float8 from change c
    where c.site = o.site and c.feed = o.feed and c.state = '${state}' and c.state <> 'ready')`;

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

/** Why no create of its feed is sent, or not this one, although nothing else keeps the site from being sent to. */
export async function whyCreateWaits(db: Queryable, change: number): Promise<Message | undefined> {
  const [row] = await db.query<{ why: Message | null }>(
    `select case when f.site_checked_at is null
         then coalesce(f.site_check_note, to_jsonb('site ' || c.site || ' is searched first for jobs that it has already'))
         when ${isAsked('c', 'f')} then f.rekey_note end as why
     from change c join feed_state f on f.feed = c.feed where c.id = $1 and c.operation = 'create'`,
    [change],
  );
  return row?.why ?? undefined;
}

/** For so long nothing may be sent of what is due: longer than a restart, a failover or a list of the site takes. */
const WHILE_AGO = `now() - interval '10 minutes'`;

/**
 * Feeds with changes that have been due for so long, while processes were running and nothing was sent to the site, which has not asked to wait:
 * the queue may be out of reach.
 */
export const stalledFeeds = async (db: Queryable): Promise<ReadonlySet<FeedName>> =>
  new Set(
    await readColumn<FeedName>(
      db,
      `select f.feed from feed_state f left join site_state s on s.site = f.site
       where f.retired_at is null and coalesce(greatest(s.not_before, s.resumed_at) < ${WHILE_AGO}, true)
         and exists (select from process p join (${LIVE_WORKERS}) live using (worker) where p.started_at < ${WHILE_AGO})
         and not exists (select from request r join feed_state g on g.feed = r.feed where g.site = f.site and r.at > ${WHILE_AGO})
         and exists (select from change c where c.feed = f.feed and c.state = 'ready' and not c.gone
           and greatest(c.since, c.not_before) < ${WHILE_AGO}
           and (c.operation <> 'create' or (f.site_checked_at is not null and not ${isAsked('c', 'f')})))`,
    ),
  );
