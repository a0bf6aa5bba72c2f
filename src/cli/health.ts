// Answers /healthz for `start`: well as long as the database answers; pauses, workers and late schedules are shown beside.
import { readSchedules } from '../store/feed-schedule.ts';
import { listSiteStates } from '../store/site-state.ts';
import { countWorkers } from '../store/worker-presence.ts';
import { type HealthServer, startHealthServer } from '../telemetry/health.ts';
import type { Books } from './books.ts';
import { UserError } from './exit-status.ts';
import { isLate } from './late-schedules.ts';

/** Late feeds that are named; a page of a thousand would be of no use. */
const MOST_NAMED = 20;

export async function startHealth({ config, db }: Books): Promise<HealthServer> {
  const { host, port } = config.listen;
  const check = async () => {
    const sites = await listSiteStates(db);
    const paused = sites.filter((site) => site.pausedSince !== undefined).map((site) => site.site);
    const late = (await readSchedules(db)).filter((schedule) => schedule.processes > 0 && isLate(schedule));
    const late_feeds = late.slice(0, MOST_NAMED).map(({ feed }) => feed);
    return { ok: true, workers: await countWorkers(db), paused, late: late.length, late_feeds };
  };
  try {
    return await startHealthServer({ host, port, check });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = code === 'EADDRINUSE' ? 'another process has it already' : message;
    throw new UserError(
      `listen: ${host}:${port} can't be taken: ${reason}. Set another one, such as: listen: { port: ${port + 1} }`,
      { cause },
    );
  }
}
