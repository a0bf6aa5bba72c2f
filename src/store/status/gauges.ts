// Reads the numbers that monitoring watches, in one statement that reads no wide row and no row per mapping: it may run
// every few seconds on a large installation.
import type { FeedName, SiteName } from '../../posting/identifiers.ts';
import { SENDING_RANK } from '../backlog/backlog.ts';
import type { VerifyResult } from '../feed/feed-verify.ts';
import type { Queryable } from '../postgres/database.ts';
import type { PullStatus } from '../pull/pull-history.ts';
import { ENTRY_COUNTS, foldReviewCounts } from '../review/review-totals.ts';

/** Numbers that describe the whole installation, whichever process reads them. Ages are by the database clock. */
export interface Gauges {
  readonly changes: readonly ChangeGauge[];
  readonly records: readonly RecordGauge[];
  readonly pulls: readonly PullGauge[];
  readonly sites: readonly SiteGauge[];
  readonly alerts: readonly AlertGauge[];
  readonly verifies: readonly VerifyGauge[];
}

/** What the last verification of a feed found; times are Unix times in seconds. */
export interface VerifyGauge {
  readonly feed: FeedName;
  /** Null: none has ended yet. */
  readonly endedAt: number | null;
  readonly result: Pick<VerifyResult, 'same' | 'changed' | 'gone' | 'foreign' | 'untold' | 'left'> | null;
  /** How long the next one of its schedule has been due; null: it has no schedule. */
  readonly late: number | null;
}

/** Messages for alert destinations that were not delivered, counted up to {@link MOST_MESSAGES}. */
export interface AlertGauge {
  readonly state: 'pending' | 'dead';
  readonly n: number;
}

/** Changes of one feed in one state. */
export interface ChangeGauge {
  readonly feed: FeedName;
  readonly site: SiteName;
  readonly state: 'ready' | 'sending' | 'in_doubt' | 'held' | 'rejected' | 'failed' | 'discarded';
  readonly n: number;
  /** Seconds since the oldest entered the state. */
  readonly age: number;
  /** When it did, in Unix time in seconds. */
  readonly since: number;
}

/** Open review entries for records of one feed. */
export interface RecordGauge {
  readonly feed: FeedName;
  readonly kind: 'unreadable' | 'duplicate';
  readonly n: number;
}

/** The newest pull of a feed; times are Unix times in seconds. */
export interface PullGauge {
  readonly feed: FeedName;
  readonly site: SiteName;
  readonly startedAt: number;
  readonly status: PullStatus;
  /** The last complete pull. */
  readonly completeAt: number | null;
  /** Postings in the whole feed: those of the last complete pull, or before the first, the most that a recent one found; at least those of the newest. */
  readonly size: number | null;
  /** Postings that the newest committed pull found in the feed, and how long that pull took. */
  readonly seen: number | null;
  readonly durationMs: number | null;
  /** Outcomes since that pull: `created`, `updated`, `deleted`, `requests` and so on. */
  readonly outcomes: Readonly<Record<string, number>> | null;
}

export interface SiteGauge {
  readonly site: SiteName;
  readonly paused: boolean;
  /** Tokens that it refuses; processes with another token go on. */
  readonly refusedTokens: number;
  /** Seconds until something may be sent. */
  readonly waits: number;
  readonly unreachable: number;
  readonly learntRate: number | null;
  readonly orphans: number;
}

/** There may be millions, and more than these say nothing else. */
const MOST_MESSAGES = 100_000;

/** The first change of each kind of operation: the one that was added to the backlog first. */
const OLDEST_READY = [0, 1, 2]
  .map(
    (rank) =>
      `(select since from change where feed = r.feed and state = 'ready' and ${SENDING_RANK} = ${rank} order by id limit 1)`,
  )
  .join(', ');

export async function readGauges(db: Queryable): Promise<Gauges> {
  await foldReviewCounts(db);
  const [row] = await db.query<{ gauges: Gauges }>(
    `with feeds as materialized (select feed, site, current_pull from feed_state where retired_at is null),
     ready as materialized (select feed, count(*) as n from change where state = 'ready' group by feed),
     changes as (
       select r.feed, f.site, 'ready' as state, r.n, least(${OLDEST_READY}) as since from ready r join feeds f using (feed)
       union all
       select f.feed, f.site, 'sending', c.n, c.since from feeds f, lateral (
         select count(*) as n, min(since) as since from change
         where site = f.site and state = 'sending' and feed = f.feed) c where c.n > 0
       union all
       select c.feed, c.site, c.state, c.n, (select min(since) from change o
         where o.site = c.site and o.state = c.state and o.state <> 'ready' and o.feed = c.feed) as since
       from (select site, case when discarded then 'discarded' else kind end as state, feed, sum(n)::bigint as n
             from ${ENTRY_COUNTS} where kind in ('rejected', 'failed', 'held', 'in_doubt')
             group by 1, 2, 3 having sum(n) > 0) c join feeds f on f.feed = c.feed),
     pulls as (
       select f.feed, f.site, extract(epoch from l.started_at)::float8 as "startedAt", l.status,
         extract(epoch from c.at)::float8 as "completeAt",
         greatest(p.seen, coalesce(c.seen, (select max(seen) from (select seen from pull p where p.feed = f.feed and committed_at is not null
           order by id desc limit 10) recent))) as size, p.seen, p.duration_ms as "durationMs",
         (select jsonb_object_agg(outcome, n) from (select outcome, sum(n) as n from outcome_count o
            where o.pull = f.current_pull group by outcome) counted) as outcomes
       from feeds f
       join lateral (select started_at, status from pull p where p.feed = f.feed order by id desc limit 1) l on true
       left join lateral (select seen, coalesce(committed_at, finished_at, started_at) as at from pull p
         where p.feed = f.feed and p.complete order by id desc limit 1) c on true
       left join pull p on p.id = f.current_pull),
     sites as (
       select s.site, s.paused_since is not null as paused,
         (select count(*) from refused_token t where t.site = s.site and t.refused_since is not null) as "refusedTokens",
         greatest(0, coalesce(extract(epoch from nullif(s.not_before, '-infinity') - clock_timestamp()), 0))::float8 as waits,
         s.unreachable_streak as unreachable, s.learnt_rate as "learntRate",
         (select count(*) from orphan_site_job o where o.site = s.site) as orphans
       from site_state s)
     select jsonb_build_object(
       'changes', (select coalesce(jsonb_agg(jsonb_build_object('feed', feed, 'site', site, 'state', state, 'n', n,
          'since', extract(epoch from since)::float8,
          'age', greatest(0, extract(epoch from clock_timestamp() - since))::float8)), '[]') from changes),
       'records', (select coalesce(jsonb_agg(r), '[]') from (
          select feed, kind, sum(n)::bigint as n from ${ENTRY_COUNTS}
          where kind in ('unreadable', 'duplicate') and not discarded group by feed, kind having sum(n) > 0) r),
       'pulls', (select coalesce(jsonb_agg(p), '[]') from pulls p),
       'alerts', (select jsonb_agg(a) from (
          select 'pending' as state, count(*) as n from (
            select from alert_message where state = 'pending' limit ${MOST_MESSAGES}) pending
          union all
          select 'dead', count(*) from (
            select from alert_message where state = 'dead' limit ${MOST_MESSAGES}) dead) a),
       'verifies', (select coalesce(jsonb_agg(jsonb_build_object('feed', v.feed, 'endedAt', extract(epoch from v.ended_at)::float8,
          'result', v.result, 'late', case when v.pattern is not null
            then greatest(0, extract(epoch from clock_timestamp() - nullif(v.due_at, 'infinity')))::float8 end)), '[]')
          from feed_verify v join feeds f using (feed)),
       'sites', (select coalesce(jsonb_agg(s), '[]') from sites s)) as gauges`,
  );
  return (row as { gauges: Gauges }).gauges;
}
