// Collects the gauges of the installation, at most once a second, and less often if reading them takes long.
import { namedFeeds } from '../../config/config.ts';
import type { FeedName, SiteName } from '../../posting/identifiers.ts';
import type { QueueCounts } from '../../queue/site-queue.ts';
import { readSchedules } from '../../store/feed/feed-schedule.ts';
import { countWorkers } from '../../store/locks/processes.ts';
import { type PullGauge, readGauges } from '../../store/status/gauges.ts';
import type { GaugeValues } from '../../telemetry/metrics.ts';
import type { App } from '../app.ts';
import { staleBefore } from '../read-health.ts';
import { gaugeValues } from './gauge-values.ts';

export type ReadQueues = () => Promise<ReadonlyMap<SiteName, QueueCounts>>;

const KEPT_MS = 1_000;
/** The share of the time that reading may take. */
const SHARE_OF_TIME = 0.05;

/** Keeps a result for a while; concurrent and early callers share it. A failure is not kept. */
export function keepBriefly<T>(read: () => Promise<T>, keptMs = KEPT_MS): () => Promise<T> {
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
  const [gauges, schedules, workers, queues] = await Promise.all([
    readGauges(db.prepared),
    readSchedules(db),
    countWorkers(db),
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
    const before = staleBefore(feed, history, since, now);
    overdue.set(feed.name, before !== undefined && Math.max(at, since.getTime()) < before.getTime());
  }
  return overdue;
}
