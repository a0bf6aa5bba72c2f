// The checks behind /healthz and /readyz of `start`: ready while the database answers, healthy while nothing fails.
import { tell, type WriteAction } from '../../plan/message.ts';
import type { HealthCondition } from '../../review/assess-health.ts';
import { readSchedules } from '../../store/feed/feed-schedule.ts';
import { countWorkers } from '../../store/locks/processes.ts';
import { listSiteStates } from '../../store/site/site-state.ts';
import type { App } from '../app.ts';
import { isLate } from '../late-schedules.ts';
import { assessRunning } from '../read-health.ts';
import { tokenDigests } from '../token-digests.ts';
import type { HealthChecks } from './health-routes.ts';

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

/** Omits text from sources, sites and the configuration: anybody who reaches the port may read the answer. */
const publicCondition = ({ kind, site, feed, message }: HealthCondition, write: WriteAction): object => ({
  kind,
  ...(site === undefined ? {} : { site }),
  ...(feed === undefined ? {} : { feed }),
  message: tell(message, write),
});
