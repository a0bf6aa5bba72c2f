// Measures changes per second through the whole chain into a minimal site, on both queues, beside a bare request loop.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { redisForTests } from '../../test/support/redis.ts';
import { openInstallation } from '../installation.ts';
import {
  fastest,
  feedFile,
  judge,
  lineOf,
  type Measured,
  type Part,
  scriptOf,
  type Verdict,
  type Workbench,
} from '../workbench.ts';

const PART = 'chain';

export const chain: Part = async (bench) => {
  const site = spawn(process.execPath, [scriptOf('minimal-site')], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [reported] = (await once(site.stdout, 'data')) as [Buffer];
  const siteUrl = reported.toString().trim();
  try {
    const rows: Measured[] = [];
    const verdicts: Verdict[] = [];
    const redis = redisForTests();
    if (redis.available) {
      const server = await redis.start();
      const sent = await sendAll(bench, siteUrl, server.url, 'on Redis');
      await server.stop();
      rows.push(sent);
      verdicts.push(judge('changes per second on Redis', sent.count / sent.seconds, 'at least', 1_000, 'a second'));
    }
    const sent = await sendAll(bench, siteUrl, 'database', 'on the database queue');
    rows.push(sent);
    verdicts.push(judge('changes per second on the database', sent.count / sent.seconds, 'at least', 500, 'a second'));
    const args = [siteUrl, String(bench.changes), String(bench.concurrency)];
    rows.push(
      lineOf(
        PART,
        'bare undici loop',
        bench.changes,
        await fastest(bench, { script: scriptOf('peers/bare-undici'), args }),
      ),
    );
    return { rows, verdicts };
  } finally {
    site.kill();
  }
};

async function sendAll(bench: Workbench, siteUrl: string, queue: string, what: string): Promise<Measured> {
  const { concurrency, changes } = bench;
  const source = await feedFile(bench, { records: changes, seed: 1, changedPer10k: 0 });
  const installation = await openInstallation(bench.server, bench.folder, { source, siteUrl, queue, concurrency });
  await fastest(bench, { script: scriptOf('pull'), args: [installation.configPath, 'acme'], runs: 1 });
  const result = await fastest(bench, { script: scriptOf('send'), args: [installation.configPath], runs: 1 });
  if (result.reported.mapped !== changes) throw new Error(`${result.reported.mapped} of ${changes} were mirrored`);
  await installation.close();
  return lineOf(PART, what, changes, result);
}
