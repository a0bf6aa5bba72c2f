// Pulls feeds on schedule, and reports each pull when its changes are sent.
import { configDigests } from '../../config/config-digests.ts';
import { startRounds } from '../../flow/pause.ts';
import { messageOf, tell } from '../../plan/message.ts';
import { pausesOf } from '../../plan/pause-words.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import type { FeedSetup } from '../../pull/feed-setup.ts';
import {
  type DueRun,
  type FeedSchedule,
  forgetSchedules,
  makeDue,
  readSchedules,
  setSchedules,
} from '../../store/feed/feed-schedule.ts';
import { listPauses } from '../../store/locks/pauses.ts';
import type { Database } from '../../store/postgres/database.ts';
import { isPassing } from '../../store/postgres/transient-error.ts';
import { readPullHistories } from '../../store/pull/pull-history.ts';
import { formatTime } from '../../telemetry/times.ts';
import type { App } from '../app.ts';
import type { Engine } from '../engine.ts';
import { watchConfigurations } from '../reload.ts';
import { isOverdue, nextRun, watchLateness } from './next-run.ts';
import { pullAndReport } from './pull-now.ts';
import { type RunEnd, type Schedules, startScheduledRuns } from './scheduled-runs.ts';

/** How often schedules are set again: the process that had set them differently may have ended. */
const SET_EVERY_MS = 15_000;

/**
 * Maximum number of concurrent pulls. Most of them wait for their source, with a socket each and no database connection
 * (`src/pull/pull-slots.ts`).
 */
const MOST_PULLS = 800;

/**
 * Starts pulling on schedule in this process. Any number of processes may do so: each takes runs that are due and free.
 */
export async function runSchedules(
  app: App,
  engine: Engine,
  setups: readonly FeedSetup[],
  signal: AbortSignal,
  isPulled: (feed: FeedName) => boolean = () => false,
): Promise<Schedules> {
  const { config, db, log } = app;
  const byName = new Map(setups.map((setup) => [setup.feed, setup]));
  const parts = configDigests(config);
  const feeds = [...config.feeds.values()].filter(({ name }) => byName.has(name));
  const schedules = feeds.flatMap(({ name, schedule, timeZone }): FeedSchedule[] =>
    schedule === undefined ? [] : [{ feed: name, pattern: schedule, timeZone, digest: parts[`feed ${name}`] ?? '' }],
  );
  const unscheduled = feeds.filter(({ schedule }) => schedule === undefined).map(({ name }) => name);
  const reports = new Set<Promise<void>>();
  const onInvalidSchedule = (feed: FeedName, err: unknown) =>
    log.error({ feed, err }, `the schedule of feed ${feed} in the database can't be read; using the configured one`);
  const set = async () => {
    for (const feed of await setSchedules(db, engine.self, schedules, unscheduled, nextRun, onInvalidSchedule)) {
      log.warn({ feed }, `the schedule of feed ${feed} in the database differed from the configured one and was reset`);
    }
  };
  const lateness = watchLateness(
    app,
    schedules.map(({ feed }) => feed),
  );
  const configurations = watchConfigurations(db, log);
  await set();
  await logNextRuns(app, schedules, unscheduled, await catchUp(db, schedules, isPulled));
  async function upkeepRound(): Promise<void> {
    try {
      await set();
      await forgetSchedules(db);
      await lateness();
      await configurations();
    } catch (error) {
      log.warn({ err: error }, 'schedules not saved, will retry');
    }
  }
  const upkeep = startRounds(upkeepRound, { everyMs: SET_EVERY_MS });

  async function run({ feed }: DueRun): Promise<RunEnd> {
    const setup = byName.get(feed);
    if (setup === undefined) return 'over';
    try {
      const { end, reported } = await pullAndReport(app, engine, setup, {
        signal,
        besides: () => reports.size,
      });
      reports.add(reported);
      void reported.finally(() => reports.delete(reported));
      return end;
    } catch (error) {
      if (signal.aborted) return 'again';
      log.error({ err: error, feed }, 'pull failed');
      return isPassing(error) ? 'again' : 'over';
    }
  }
  const runs = startScheduledRuns({
    db,
    worker: engine.self.worker,
    schedules,
    mostAtOnce: MOST_PULLS,
    pausedFeeds: async () => {
      const pauses = (await listPauses(db.prepared)).filter(({ stopsPulls }) => stopsPulls);
      const paused = feeds.filter(({ name, siteName }) => pausesOf(pauses, { feed: name, site: siteName }).length > 0);
      return new Set(paused.map(({ name }) => name));
    },
    run,
    isPulled,
    onError: (error) => log.warn({ err: error }, 'schedules not checked, will retry'),
    onInvalidSchedule,
  });
  return {
    isPulling: (feed) => runs.isPulling(feed),
    async leave(onEnded) {
      await upkeep.stop();
      await runs.leave(() => void Promise.all(reports).then(onEnded));
    },
    async stop(graceMs) {
      await upkeep.stop();
      await runs.stop(graceMs);
      await Promise.all(reports);
    },
  };
}

// When a process starts: makes overdue feeds due now, and logs when each feed will be pulled.

/** Feeds that are logged individually. */
const MOST_LISTED = 20;

/** What the last runs of feeds mean for the next ones. */
interface CaughtUp {
  readonly lastRuns: ReadonlyMap<FeedName, Date>;
  /** Due now: the last run started before the schedule's latest due time, or there was none. */
  readonly overdue: ReadonlySet<FeedName>;
}

/** Makes due every run that was missed while nobody ran the schedules, and every feed never pulled. */
async function catchUp(
  db: Database,
  schedules: readonly FeedSchedule[],
  isPulled: (feed: FeedName) => boolean,
): Promise<CaughtUp> {
  const histories = await readPullHistories(
    db,
    schedules.map(({ feed }) => feed),
  );
  const [clock] = await db.query<{ now: Date }>('select clock_timestamp() as now');
  const now = clock?.now ?? new Date();
  // A pull that a former configuration began has no run yet that counts.
  const due = schedules.filter(({ feed }) => !isPulled(feed));
  const overdue = due.filter((schedule) => isOverdue(schedule, histories.get(schedule.feed)?.lastRunAt, now));
  await makeDue(
    db,
    overdue.map(({ feed }) => feed),
  );
  const lastRuns = [...histories].flatMap(([feed, { lastRunAt }]) =>
    lastRunAt === undefined ? [] : [[feed, lastRunAt] as const],
  );
  return { lastRuns: new Map(lastRuns), overdue: new Set(overdue.map(({ feed }) => feed)) };
}

/** Logs when each feed is pulled next: those pulled at once first, then in order of time. */
async function logNextRuns(
  { db, log, writeAction }: Pick<App, 'db' | 'log' | 'writeAction'>,
  schedules: readonly FeedSchedule[],
  unscheduled: readonly FeedName[],
  { lastRuns, overdue }: CaughtUp,
): Promise<void> {
  const states = await readSchedules(
    db,
    schedules.map(({ feed }) => feed),
  );
  const inOrder = [...states].sort((a, b) => a.nextAt.getTime() - b.nextAt.getTime());
  for (const { feed, nextAt, pattern, timeZone } of inOrder.slice(0, MOST_LISTED)) {
    const lastRun = lastRuns.get(feed);
    const last = lastRun === undefined ? 'it was never pulled' : `its last run was at ${formatTime(lastRun)}`;
    const what = overdue.has(feed) ? `is pulled now: ${last}` : `is pulled next at ${formatTime(nextAt)}`;
    log.info({ feed, schedule: pattern, timeZone, lastRun: lastRun ?? null, nextRun: nextAt }, `feed ${feed} ${what}`);
  }
  if (inOrder.length > MOST_LISTED) {
    const seeAll = [{ words: 'to see all of them run', action: { kind: 'show_status' } as const }];
    log.info({ feeds: inOrder.length - MOST_LISTED }, tell(messageOf('more feeds are scheduled', seeAll), writeAction));
  }
  if (unscheduled.length > 0) {
    const named = unscheduled.slice(0, MOST_LISTED).join(', ');
    log.info({ feeds: unscheduled.length }, `feeds without a schedule are only pulled by sync: ${named}`);
  }
}
