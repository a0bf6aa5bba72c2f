// Answers GET /healthz, for monitoring: healthy while nothing fails; and GET /readyz, for supervisors that restart the
// process: ready while the database answers.
import { Hono } from 'hono';
import { tell, type WriteAction } from '../../plan/message.ts';
import type { HealthCondition } from '../../review/health/assess-health.ts';
import { readSchedules } from '../../store/feed/feed-schedule.ts';
import { countWorkers } from '../../store/locks/processes.ts';
import { listSiteStates } from '../../store/site/site-state.ts';
import type { App } from '../app.ts';
import { tokenDigests } from '../open-site-client.ts';
import { assessRunning } from '../read-health.ts';
import { isLate } from '../schedule/next-run.ts';

/** The result of a check: `ok` decides the status, the rest is shown. Must contain no secrets. */
export interface Health {
  readonly ok: boolean;
  readonly [detail: string]: unknown;
}

interface HealthChecks {
  /** Runs on each request, but never twice at the same time. A throw counts as unhealthy. */
  readonly check: () => Promise<Health>;
  /** The check of `/readyz`: whether the process itself can work. Default: `check`. */
  readonly ready?: () => Promise<Health>;
  /** A check that takes longer than this, in milliseconds, counts as unhealthy; 5 s by default. */
  readonly checkTimeoutMs?: number;
}

/** Answers with 200 or 503 and the check's result as JSON. */
export function healthRoutes({ check, ready = check, checkTimeoutMs = 5_000 }: HealthChecks): Hono {
  const routes = new Hono();
  for (const [path, run] of [
    ['/healthz', check],
    ['/readyz', ready],
  ] as const) {
    const inTime = oneAtATime(() => checkInTime(run, checkTimeoutMs));
    routes.get(path, async () => {
      const health = await inTime();
      return answerJson(health.ok ? 200 : 503, health);
    });
  }
  return routes;
}

async function checkInTime(check: () => Promise<Health>, timeoutMs: number): Promise<Health> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Health>((resolve) => {
    timer = setTimeout(() => resolve({ ok: false, error: `no result after ${timeoutMs} ms` }), timeoutMs);
    // A pending check must not keep the process alive.
    timer.unref();
  });
  try {
    return await Promise.race([check(), late]);
  } catch {
    // Hide the thrown error, which may name hosts and users: it belongs in the log of the part that failed, not on a page.
    return { ok: false, error: 'the check failed' };
  } finally {
    clearTimeout(timer);
  }
}

/** Concurrent calls share one result, so many probes cost one check. */
function oneAtATime<Result>(run: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined;
  return () => {
    running ??= run().finally(() => {
      running = undefined;
    });
    return running;
  };
}

export const answerJson = (status: number, body: object, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(`${JSON.stringify(body)}\n`, {
    status,
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...headers },
  });

/** How many late feeds and failures are listed; a thousand would help nobody. */
const MOST_NAMED = 20;

export async function healthChecks(app: App): Promise<HealthChecks> {
  const { config, db } = app;
  const runningSince = new Date();
  const tokens = await tokenDigests(db, config);
  const check = async () => {
    const sites = await listSiteStates(db, tokens);
    const paused = sites.filter((site) => site.pausedSince !== undefined).map((site) => site.site);
    const schedules = await readSchedules(db);
    const late = schedules.filter((schedule) => schedule.processes > 0 && isLate(schedule));
    const late_feeds = late.slice(0, MOST_NAMED).map(({ feed }) => feed);
    const workers = await countWorkers(db);
    const { failing } = await assessRunning(app, schedules, workers, runningSince);
    return {
      ok: failing.length === 0,
      workers,
      paused,
      late: late.length,
      late_feeds,
      failing: failing.slice(0, MOST_NAMED).map((condition) => publicCondition(condition, app.writeAction)),
      failures: failing.length,
    };
  };
  const ready = async () => {
    await db.query('select 1');
    return { ok: true };
  };
  return { check, ready };
}

/** Omits text from sources, sites and the configuration: who monitors need not be one who may read them. */
const publicCondition = ({ kind, site, feed, message }: HealthCondition, write: WriteAction): object => ({
  kind,
  ...(site === undefined ? {} : { site }),
  ...(feed === undefined ? {} : { feed }),
  message: tell(message, write),
});
