// Answers /healthz for `start`: well as long as the database answers; pauses and workers are shown beside.
import { listSiteStates } from '../store/site-state.ts';
import { countWorkers } from '../store/worker-presence.ts';
import { type HealthServer, startHealthServer } from '../telemetry/health.ts';
import type { Books } from './books.ts';

export function startHealth({ config, db }: Books): Promise<HealthServer> {
  return startHealthServer({
    ...config.listen,
    async check() {
      const sites = await listSiteStates(db);
      const paused = sites.filter((site) => site.pausedSince !== undefined).map((site) => site.site);
      return { ok: true, workers: await countWorkers(db), paused };
    },
  });
}
