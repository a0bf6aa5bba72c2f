// Pulls feeds on schedule, and reports each pull when its changes are sent.
import { configDigests } from '../../config/config-digests.ts';
import { startRounds } from '../../flow/pause.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import type { FeedSetup } from '../../pull/feed-setup.ts';
import { type DueRun, type FeedSchedule, forgetSchedules, setSchedules } from '../../store/feed/feed-schedule.ts';
import { isPassing } from '../../store/postgres/transient-error.ts';
import type { App } from '../app.ts';
import { watchConfigurations } from '../configurations.ts';
import type { Engine } from '../engine.ts';
import { announce, catchUp } from './catch-up.ts';
import { watchLateness } from './late-schedules.ts';
import { nextRun } from './next-run.ts';
import { pullAndReport } from './pull-and-report.ts';
import { type RunEnd, startScheduledRuns } from './scheduled-runs.ts';

/** How often schedules are set again: the process that had set them differently may have ended. */
const SET_EVERY_MS = 15_000;

/**
 * Maximum number of concurrent pulls. Most of them wait for their source, with a socket each and no database connection
 * (`src/pull/pull-slots.ts`).
 */
const MOST_PULLS = 800;

interface Schedules {
  stop(graceMs: number): Promise<void>;
}

/**
 * Starts pulling on schedule in this process. Any number of processes may do so: each takes runs that are due and free.
 */
export async function runSchedules(
  app: App,
  engine: Engine,
  setups: readonly FeedSetup[],
  signal: AbortSignal,
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
  await announce(app, schedules, unscheduled, await catchUp(db, schedules));
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
    run,
    onError: (error) => log.warn({ err: error }, 'schedules not checked, will retry'),
    onInvalidSchedule,
  });
  return {
    async stop(graceMs) {
      await upkeep.stop();
      await runs.stop(graceMs);
      await Promise.all(reports);
    },
  };
}
