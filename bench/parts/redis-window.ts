// Measures the memory of Redis while a large backlog waits: it holds a bounded window of queue jobs, never the backlog.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { loadConfig } from '../../src/config/load-config.ts';
import type { FeedName, SiteName } from '../../src/posting/identifiers.ts';
import { openAppFor } from '../../src/runtime/app.ts';
import { awaitSending } from '../../src/runtime/await-quiet.ts';
import { startEngine } from '../../src/runtime/engine.ts';
import { redisForTests } from '../../test/support/redis.ts';
import { BENCH_ENV, fillBacklog, openInstallation } from '../installation.ts';
import { judge, type Part, scriptOf } from '../workbench.ts';

/** The window has its full size from 50 requests a second on; at this rate the backlog hardly shrinks during the test. */
const REQUESTS_PER_SECOND = 100;
const WATCHED_MS = 10_000;

export const redisWindow: Part = async (bench) => {
  const redis = redisForTests();
  if (!redis.available) return { rows: [], verdicts: [] };
  const site = spawn(process.execPath, [scriptOf('minimal-site')], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [reported] = (await once(site.stdout, 'data')) as [Buffer];
  const server = await redis.start();
  const installation = await openInstallation(bench.server, bench.folder, {
    source: 'unused.xml',
    siteUrl: reported.toString().trim(),
    queue: server.url,
    requestsPerSecond: REQUESTS_PER_SECOND,
  });
  bench.say(`making a backlog of ${bench.records}`);
  await fillBacklog(installation, bench.records);
  const watcher = new Redis(server.url);
  const config = await loadConfig({ path: installation.configPath, env: BENCH_ENV, cwd: bench.folder });
  const app = await openAppFor(config, { quiet: true });
  const engine = await startEngine(app, undefined);
  engine.wake();
  let most = 0;
  await awaitSending(app, engine, 'board' as SiteName, ['acme' as FeedName], {
    signal: AbortSignal.timeout(WATCHED_MS),
    onCheck: async () => {
      most = Math.max(most, Number(/^used_memory:(\d+)/m.exec(await watcher.info('memory'))?.[1]));
    },
  });
  await engine.stop(5_000);
  await app.close();
  watcher.disconnect();
  await server.stop();
  await installation.close();
  site.kill();
  return {
    rows: [],
    verdicts: [judge(`memory of Redis with ${bench.records} pending`, most / 2 ** 20, 'at most', 64, 'MiB')],
  };
};
