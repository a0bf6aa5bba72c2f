// Collects the gauges of the installation for Prometheus, at most once a second, and less often if reading them takes
// long, and names them. Labels are feeds, sites and states, never keys or texts.
import { namedFeeds } from '../../config/config.ts';
import { type PersonsPause, pausesOf } from '../../plan/pause-words.ts';
import type { FeedName, SiteName } from '../../posting/identifiers.ts';
import type { QueueCounts } from '../../queue/site-queue.ts';
import { readSchedules, type ScheduleState } from '../../store/feed/feed-schedule.ts';
import { listPauses } from '../../store/locks/pauses.ts';
import { countWorkers } from '../../store/locks/processes.ts';
import {
  type ChangeGauge,
  type Gauges,
  type PullGauge,
  type RecordGauge,
  readGauges,
} from '../../store/status/gauges.ts';
import type { GaugeValues, MetricSample } from '../../telemetry/metrics.ts';
import type { App } from '../app.ts';
import { latestCompleteDeadline } from '../read-health.ts';

export type ReadQueues = () => Promise<ReadonlyMap<SiteName, QueueCounts>>;

const KEPT_MS = 1_000;
/** The share of the time that reading may take. */
const SHARE_OF_TIME = 0.05;

/** Keeps a result for a while; concurrent and early callers share it. A failure is not kept. */
export function cacheBriefly<T>(read: () => Promise<T>, keptMs = KEPT_MS): () => Promise<T> {
  let kept: Promise<T> | undefined;
  let until = Number.POSITIVE_INFINITY;
  return () => {
    if (kept !== undefined && performance.now() < until) return kept;
    const begin = performance.now();
    const reading = read();
    kept = reading;
    until = Number.POSITIVE_INFINITY;
    reading.then(
      () => {
        const end = performance.now();
        until = end + Math.max(keptMs, (end - begin) / SHARE_OF_TIME);
      },
      () => {
        kept = undefined;
      },
    );
    return reading;
  };
}

/** Reads all gauges of the installation. */
export async function collectGauges({ config, db }: App, since: Date, readQueues: ReadQueues): Promise<GaugeValues[]> {
  const [gauges, schedules, workers, pauses, queues] = await Promise.all([
    readGauges(db.prepared),
    readSchedules(db),
    countWorkers(db),
    listPauses(db.prepared),
    // An unreachable queue must not hide what the database says.
    readQueues().catch(() => new Map<SiteName, QueueCounts>()),
  ]);
  const named = namedFeeds(config);
  const feeds = new Map([
    ...[...config.brokenFeeds].flatMap(([feed, { siteName: site }]) =>
      site === undefined ? [] : [[feed, site] as const],
    ),
    ...[...config.feeds.values()].map(({ name, siteName: site }) => [name, site] as const),
  ]);
  return gaugeValues({
    ...gauges,
    workers,
    pauses,
    schedules: schedules.filter(({ feed, processes }) => processes > 0 || named.has(feed)),
    overdue: overdueFeeds(config, gauges.pulls, since),
    feeds,
    queues,
  });
}

/** As `/healthz` decides: a process that has just started gets time to catch up. */
function overdueFeeds(config: App['config'], pulls: readonly PullGauge[], since: Date): ReadonlyMap<FeedName, boolean> {
  const now = new Date();
  const completeAt = new Map(pulls.map(({ feed, completeAt: at }) => [feed, (at ?? 0) * 1000]));
  const overdue = new Map<FeedName, boolean>();
  for (const feed of config.feeds.values()) {
    if (feed.schedule === undefined && feed.staleAfterMs === undefined) continue;
    const at = completeAt.get(feed.name) ?? 0;
    const history = { lastComplete: { pull: 0, at: new Date(at) } };
    const before = latestCompleteDeadline(feed, history, since, now);
    overdue.set(feed.name, before !== undefined && Math.max(at, since.getTime()) < before.getTime());
  }
  return overdue;
}

// Names the gauges of the installation for Prometheus. Labels are feeds, sites and states, never keys or texts.

/** Everything that the gauges show. */
interface GaugeFacts extends Gauges {
  readonly workers: number;
  readonly pauses: readonly PersonsPause[];
  readonly schedules: readonly ScheduleState[];
  /** Whether each feed with an expected interval is overdue. */
  readonly overdue: ReadonlyMap<FeedName, boolean>;
  /** Configured feeds with their sites: they have all series, also before anything happened. */
  readonly feeds: ReadonlyMap<FeedName, SiteName>;
  readonly queues: ReadonlyMap<SiteName, QueueCounts>;
}

const STATES: readonly ChangeGauge['state'][] = [
  'ready',
  'sending',
  'in_doubt',
  'held',
  'rejected',
  'failed',
  'discarded',
];
const RECORD_KINDS: readonly RecordGauge['kind'][] = ['unreadable', 'duplicate'];

const one = (value: number): MetricSample[] => [{ labels: {}, value }];

export const databaseUp = (value: 0 | 1): GaugeValues => ({
  name: 'jobmirror_database_up',
  help: 'Whether the database answered; if not, there is no gauge of the installation.',
  samples: one(value),
});

export function gaugeValues(facts: GaugeFacts): GaugeValues[] {
  return [
    databaseUp(1),
    { name: 'jobmirror_workers', help: 'Live processes that send.', samples: one(facts.workers) },
    ...changeValues(facts),
    ...pullValues(facts),
    ...scheduleValues(facts),
    ...verifyValues(facts),
    ...siteValues(facts),
    {
      name: 'jobmirror_alert_messages',
      help: 'Messages for alert destinations that were not delivered: pending ones, and dead ones that nobody sends again.',
      samples: (['pending', 'dead'] as const).map((state) => ({
        labels: { state },
        value: facts.alerts.find((gauge) => gauge.state === state)?.n ?? 0,
      })),
    },
  ];
}

function changeValues({ changes, records, feeds }: GaugeFacts): GaugeValues[] {
  const counts = new Map<string, MetricSample>();
  const add = (labels: MetricSample['labels'], value: number) => counts.set(JSON.stringify(labels), { labels, value });
  for (const [feed, site] of feeds) for (const state of STATES) add({ feed, site, state }, 0);
  for (const { feed, site, state, n } of changes) add({ feed, site, state }, n);
  const entries = new Map<string, MetricSample>();
  for (const feed of feeds.keys())
    for (const kind of RECORD_KINDS) entries.set(`${feed} ${kind}`, { labels: { feed, kind }, value: 0 });
  for (const { feed, kind, n } of records) entries.set(`${feed} ${kind}`, { labels: { feed, kind }, value: n });
  return [
    {
      name: 'jobmirror_changes',
      help: 'Changes by state: ready and sending are the backlog, the others wait for a person or were discarded.',
      samples: [...counts.values()],
    },
    {
      name: 'jobmirror_oldest_change_age_seconds',
      help: 'How long the oldest change of a feed has been in its state; ready: since its last attempt.',
      samples: changes.map(({ feed, site, state, age }) => ({ labels: { feed, site, state }, value: age })),
    },
    {
      name: 'jobmirror_record_problems',
      help: 'Review entries for records that are no usable posting.',
      samples: [...entries.values()],
    },
  ];
}

function pullValues({ pulls, overdue }: GaugeFacts): GaugeValues[] {
  const ofFeed = (value: (pull: (typeof pulls)[number]) => number | null): MetricSample[] =>
    pulls.flatMap((pull) => {
      const found = value(pull);
      return found === null ? [] : [{ labels: { feed: pull.feed }, value: found }];
    });
  return [
    {
      name: 'jobmirror_feed_last_pull_timestamp_seconds',
      help: 'Start of the newest pull of a feed.',
      samples: ofFeed(({ startedAt }) => startedAt),
    },
    {
      name: 'jobmirror_feed_last_complete_pull_timestamp_seconds',
      help: 'When the newest complete pull of a feed was committed.',
      samples: ofFeed(({ completeAt }) => completeAt),
    },
    {
      name: 'jobmirror_feed_last_pull_failed',
      help: 'Whether the newest pull of a feed failed.',
      samples: ofFeed(({ status }) => Number(status === 'failed')),
    },
    {
      name: 'jobmirror_feed_overdue',
      help: 'Whether a feed has had no complete pull for stale_after_minutes, or for three runs of its schedule.',
      samples: [...overdue].map(([feed, is]) => ({ labels: { feed }, value: Number(is) })),
    },
    {
      name: 'jobmirror_feed_postings',
      help: 'Postings that the newest committed pull counted in the feed, with skipped, unreadable and repeated ones.',
      samples: ofFeed(({ seen }) => seen),
    },
    {
      name: 'jobmirror_feed_pull_duration_seconds',
      help: 'Duration of that pull, once it ended.',
      samples: ofFeed(({ durationMs }) => (durationMs === null ? null : durationMs / 1000)),
    },
    {
      name: 'jobmirror_feed_pull_outcomes',
      help: 'What was sent since that pull, over all processes, by outcome; starts at 0 with each pull.',
      samples: pulls.flatMap(({ feed, outcomes }) =>
        Object.entries(outcomes ?? {}).map(([outcome, value]) => ({ labels: { feed, outcome }, value })),
      ),
    },
  ];
}

const scheduleValues = ({ schedules }: GaugeFacts): GaugeValues[] => [
  {
    name: 'jobmirror_schedule_late_seconds',
    help: 'How long the next run of a schedule has been due.',
    samples: schedules.map(({ feed, lateMs }) => ({ labels: { feed }, value: lateMs / 1000 })),
  },
  {
    name: 'jobmirror_schedule_next_run_timestamp_seconds',
    help: 'When the next run of a schedule is due.',
    samples: schedules.map(({ feed, nextAt }) => ({ labels: { feed }, value: nextAt.getTime() / 1000 })),
  },
];

const FINDINGS = ['same', 'changed', 'gone', 'foreign', 'untold'] as const;

const verifyValues = ({ verifies }: GaugeFacts): GaugeValues[] => [
  {
    name: 'jobmirror_verify_last_run_timestamp_seconds',
    help: 'When the last verification of a whole feed ended.',
    samples: verifies.flatMap(({ feed, endedAt }) => (endedAt === null ? [] : [{ labels: { feed }, value: endedAt }])),
  },
  {
    name: 'jobmirror_verify_jobs',
    help: 'Jobs of a feed by what its last verification found.',
    samples: verifies.flatMap(({ feed, result }) =>
      result === null ? [] : FINDINGS.map((finding) => ({ labels: { feed, finding }, value: result[finding] })),
    ),
  },
  {
    name: 'jobmirror_verify_findings_left',
    help: 'Findings of the last verification of a feed that wait for a person.',
    samples: verifies.flatMap(({ feed, result }) =>
      result === null ? [] : [{ labels: { feed }, value: result.left }],
    ),
  },
  {
    name: 'jobmirror_verify_late_seconds',
    help: 'How long the next verification of a schedule has been due; it counts while that runs.',
    samples: verifies.flatMap(({ feed, late }) => (late === null ? [] : [{ labels: { feed }, value: late }])),
  },
];

function siteValues({ sites, feeds, queues, pauses }: GaugeFacts): GaugeValues[] {
  const known = new Set(sites.map(({ site }) => site));
  const unknown = [...new Set(feeds.values())].filter((site) => !known.has(site));
  const ofSite = (name: string, help: string, value: (site: (typeof sites)[number]) => number): GaugeValues => ({
    name,
    help,
    samples: [
      ...sites.map((site) => ({ labels: { site: site.site }, value: value(site) })),
      ...unknown.map((site) => ({ labels: { site }, value: 0 })),
    ],
  });
  return [
    {
      name: 'jobmirror_feed_paused_by_person',
      help: 'Whether a person has paused sending for a feed, its site or everything.',
      samples: [...feeds].map(([feed, site]) => ({
        labels: { feed },
        value: Number(pausesOf(pauses, { feed, site }).length > 0),
      })),
    },
    ofSite('jobmirror_site_paused', 'Whether sending to a site is paused.', ({ paused }) => Number(paused)),
    ofSite(
      'jobmirror_site_refused_tokens',
      'Tokens that a site refuses: processes with these do not send.',
      ({ refusedTokens }) => refusedTokens,
    ),
    ofSite('jobmirror_site_wait_seconds', 'Until requests are sent to a site again.', ({ waits }) => waits),
    ofSite(
      'jobmirror_site_unreachable_streak',
      'How many times in a row a site did not answer.',
      ({ unreachable }) => unreachable,
    ),
    ofSite(
      'jobmirror_orphan_site_jobs',
      'Site jobs that jobmirror made, that no posting owns, and that will be deleted.',
      ({ orphans }) => orphans,
    ),
    {
      name: 'jobmirror_site_learnt_requests_per_second',
      help: 'The rate that a site taught by asking to wait; absent while the configured one applies.',
      samples: sites.flatMap(({ site, learntRate }) =>
        learntRate === null ? [] : [{ labels: { site }, value: learntRate }],
      ),
    },
    {
      name: 'jobmirror_queue_jobs',
      help: 'Queue jobs of a site; the backlog is in jobmirror_changes, of which the queue holds only the beginning.',
      samples: [...queues].flatMap(([site, { waiting, active }]) => [
        { labels: { site, state: 'waiting' }, value: waiting },
        { labels: { site, state: 'active' }, value: active },
      ]),
    },
  ];
}
