// Counts the status of each feed, for display while everything runs.
import { messageOfReason, type Reason } from '../../plan/desired-change.ts';
import type { Message } from '../../plan/message.ts';
import type { FeedName, SiteName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';
import { listPulls, type PullRow } from '../pull/pull-row.ts';

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
  /** Why its creates and deletes wait, if its keys seem to have changed. */
  readonly rekey: Message | undefined;
  /** Likely mistakes of the mapping, found when all records were last read. */
  readonly warnings: readonly string[];
  /** A person took the feed out of service. */
  readonly retired: boolean;
}

type Counts = Pick<FeedOverview, 'ready' | 'sending' | 'in_doubt' | 'held' | 'rejected' | 'failed' | 'discarded'>;

/** These feeds, and all others in the database. @param only of these, the one feed to read */
export async function readOverview(
  db: Queryable,
  configured: ReadonlyMap<FeedName, SiteName>,
  only?: FeedName,
): Promise<FeedOverview[]> {
  const known = await db.query<{ feed: FeedName; site: SiteName; retired: boolean }>(
    'select feed, site, retired_at is not null as retired from feed_state',
  );
  const retired = new Set(known.filter((row) => row.retired).map((row) => row.feed));
  // If the database has another site for the feed than the configuration, its data belongs to that site.
  const sites = new Map([...configured, ...known.map(({ feed, site }) => [feed, site] as const)]);
  const overviews: FeedOverview[] = [];
  for (const feed of [...sites.keys()].filter((each) => only === undefined || each === only).sort()) {
    overviews.push({ ...(await readFeed(db, feed, sites.get(feed) as SiteName)), retired: retired.has(feed) });
  }
  return overviews;
}

async function readFeed(db: Queryable, feed: FeedName, site: SiteName): Promise<Omit<FeedOverview, 'retired'>> {
  const [lastPull] = await listPulls(db, feed, 1);
  const [live] = await db.query<{ n: number }>('select count(*) as n from mapping where feed = $1', [feed]);
  const { counts, ages } = await countChanges(db, feed, site);
  const [state] = await db.query<{ note: Message | null; rekey: Message | null; warnings: readonly string[] }>(
    `select case when site_checked_at is null then site_check_note end as note, rekey_note as rekey, warnings
     from feed_state where feed = $1`,
    [feed],
  );
  const records = await db.query<{ kind: string; n: number }>(
    `select case when discarded then 'discarded' else kind end as kind, sum(case when discarded then records else 1 end)::bigint as n from record_problem
     where feed = $1 and not (discarded and kind = 'duplicate') group by 1`,
    [feed],
  );
  const recordsOf = (kind: string) => records.find((row) => row.kind === kind)?.n ?? 0;
  return {
    feed,
    site,
    live: live?.n ?? 0,
    ...counts,
    discarded: counts.discarded + recordsOf('discarded'),
    unreadable: recordsOf('unreadable'),
    duplicates: recordsOf('duplicate'),
    heldForMs: ages.get('held'),
    inDoubtForMs: ages.get('in_doubt'),
    holdReason: counts.held === 0 ? undefined : await newestHoldReason(db, feed),
    lastPull,
    search: state?.note ?? undefined,
    rekey: state?.rekey ?? undefined,
    warnings: state?.warnings ?? [],
  };
}

/** Each part uses its own index, so that counting the few entries for a person does not scan a large backlog. */
async function countChanges(
  db: Queryable,
  feed: FeedName,
  site: SiteName,
): Promise<{ readonly counts: Counts; readonly ages: ReadonlyMap<string, number> }> {
  const rows = await db.query<{ state: keyof Counts; n: number; age: number | null }>(
    `select 'ready' as state, count(*) as n, null::float8 as age from change where feed = $1 and state = 'ready'
     union all
     select state, count(*), (extract(epoch from clock_timestamp() - min(since)) * 1000)::float8
     from change where site = $2 and feed = $1 and (state in ('sending', 'in_doubt', 'held', 'rejected', 'failed')
       or state = 'discarded' and desired = 'present' and not gone) group by state`,
    [feed, site],
  );
  const countOf = (state: keyof Counts) => rows.find((row) => row.state === state)?.n ?? 0;
  return {
    counts: {
      ready: countOf('ready'),
      sending: countOf('sending'),
      in_doubt: countOf('in_doubt'),
      held: countOf('held'),
      rejected: countOf('rejected'),
      failed: countOf('failed'),
      discarded: countOf('discarded'),
    },
    ages: new Map(rows.flatMap(({ state, age }) => (age === null ? [] : [[state, age] as const]))),
  };
}

/** Why the deletes of a feed are held: the reason of the newest. */
export async function newestHoldReason(db: Queryable, feed: FeedName): Promise<Message | undefined> {
  const [row] = await db.query<{ reason: Reason | null }>(
    `select reason from change where feed = $1 and state = 'held' order by since desc, id desc limit 1`,
    [feed],
  );
  return row?.reason == null ? undefined : messageOfReason(row.reason);
}
