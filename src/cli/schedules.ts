// Pulls feeds when their schedules say so, and reports each pull when its changes are sent.

import type { FeedSetup } from '../../jobs/feed-setup.ts';
import { pullFeed } from '../../jobs/pull-feed.ts';
import type { FeedName } from '../posting/identifiers.ts';
import { type FeedSchedule, openPullQueue, startPullWorker } from '../queue/pull-queue.ts';
import { awaitQuiet } from './await-quiet.ts';
import type { Books } from './books.ts';
import type { Engine } from './engine.ts';
import { reportPull } from './pull-report.ts';

/** Schedules are set again this often: a run that failed, or a queue that was emptied, must not end them. */
const UPSERT_EVERY_MS = 30_000;

export interface Schedules {
  stop(graceMs: number): Promise<void>;
}

/** Starts pulling on schedule in this process. Any number of processes may: each run is one queue job. */
export async function runSchedules(
  books: Books,
  engine: Engine,
  setups: readonly FeedSetup[],
  signal: AbortSignal,
): Promise<Schedules> {
  const { config, log } = books;
  const byName = new Map(setups.map((setup) => [setup.feed, setup]));
  const schedules = [...config.feeds.values()].flatMap(({ name, schedule, timeZone }): FeedSchedule[] =>
    schedule === undefined ? [] : [{ feed: name, pattern: schedule, timeZone }],
  );
  const reports = new Set<Promise<void>>();
  const queue = await openPullQueue(engine.backend);
  await queue.upsertSchedules(schedules);
  const timer = setInterval(() => {
    queue
      .upsertSchedules(schedules)
      .catch((error) => log.warn({ err: error }, 'schedules not set, it will be tried again'));
  }, UPSERT_EVERY_MS);

  const worker = await startPullWorker(engine.backend, {
    async process(feed, pullSignal) {
      const setup = byName.get(feed);
      if (setup === undefined) return;
      const report = pullAndReport(books, engine, setup, AbortSignal.any([signal, pullSignal]));
      const reported = (await report).reported.finally(() => reports.delete(reported));
      reports.add(reported);
    },
    async onFailed(feed, error) {
      log.error({ err: error, feed }, 'pull failed');
    },
  });
  return {
    async stop(graceMs) {
      clearInterval(timer);
      await worker.stop(graceMs);
      await Promise.all(reports);
      await queue.close();
    },
  };
}

/** Resolves when the pull is committed, so that the next one may come; `reported` when its changes are sent. */
async function pullAndReport(
  books: Books,
  engine: Engine,
  setup: FeedSetup,
  signal: AbortSignal,
): Promise<{ reported: Promise<void> }> {
  const startedAt = performance.now();
  const end = await pullFeed(setup, { db: books.db, log: books.log, signal });
  if (end.kind === 'busy') {
    books.log.info({ feed: setup.feed }, 'pull skipped: another one of this feed is running');
    return { reported: Promise.resolve() };
  }
  engine.wake();
  const report = async () => {
    const rest = await awaitQuiet(books, engine, setup.site, [setup.feed], { signal });
    const hindrance = rest.kind === 'waiting' ? ({ worth: 'if_unsent', message: rest.message } as const) : undefined;
    const summary = await reportPull(books.db, setup.feed, end, hindrance, performance.now() - startedAt);
    const level = summary.status === 'failed' || summary.status === 'incomplete' ? 'error' : 'info';
    books.log[level](summary, 'pull ended');
  };
  const reported = report().catch((error: unknown) => logFailure(books, setup.feed, error));
  return { reported };
}

function logFailure({ log }: Books, feed: FeedName, error: unknown): void {
  log.error({ err: error, feed }, 'pull could not be reported');
}
