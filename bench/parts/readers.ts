// Measures pages and API for many concurrent readers while a feed is mirrored: each reader asks for the next as soon as it has its answer.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { BENCH_ENV, openInstallation } from '../installation.ts';
import { cpuSecondsOf, peakMegabytesOf, serverUsage } from '../server-usage.ts';
import { feedFile, judge, MAIN, type Part, startScript } from '../workbench.ts';

const PART = 'readers';
const POSTINGS = 4_000;
const READERS = 200;
const SECONDS = 60;
const PATHS = [
  '/',
  '/feed?feed=acme',
  '/pulls',
  '/pulls/1',
  '/review',
  '/jobs?feed=acme',
  '/sites',
  '/sites/board',
  '/queues',
  '/activity',
  '/api/v1/status',
  '/api/v1/feeds',
  '/api/v1/feeds/acme',
  '/api/v1/review',
  '/api/v1/feeds/acme/postings',
] as const;

export const readers: Part = async (bench) => {
  const site = await startScript('minimal-site', []);
  const source = await feedFile(bench, { records: POSTINGS, seed: 1, changedPer10k: 0 });
  // The site's usual rate: the feed is mirrored for longer than it is read.
  const installation = await openInstallation(bench.server, bench.folder, {
    source,
    siteUrl: site.url,
    requestsPerSecond: POSTINGS / SECONDS,
  });
  const port = await freePort();
  await appendFile(
    installation.configPath,
    `web: { listen: "127.0.0.1:${port}", requests_per_minute: 10000000 }\nlog: { level: warn }\n`,
  );
  const start = spawn(process.execPath, [MAIN, 'start', '--config', installation.configPath], {
    env: { ...process.env, ...BENCH_ENV },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const address = `http://127.0.0.1:${port}`;
  const dispatcher = new Agent({ connections: READERS, pipelining: 1 });
  try {
    await untilReady(address);
    await startPull(address);
    bench.say(`${READERS} readers for ${SECONDS} s`);
    const before = {
      node: cpuSecondsOf(start.pid),
      server: (await serverUsage(installation.db, undefined)).postgresSeconds,
      at: performance.now(),
    };
    const taken = new Map<string, number[]>(PATHS.map((path) => [path, []]));
    const until = before.at + SECONDS * 1_000;
    await Promise.all(Array.from({ length: READERS }, (_, reader) => read(address, dispatcher, reader, until, taken)));
    const seconds = (performance.now() - before.at) / 1_000;
    const [sent] = await installation.db.query<{ n: number }>('select count(*) as n from mapping');
    const all = [...taken.values()].flat().sort((a, b) => a - b);
    const row = {
      part: PART,
      what: `pages and answers for ${READERS} readers, ${sent?.n ?? 0} postings sent meanwhile`,
      count: all.length,
      seconds,
      cpuSeconds:
        cpuSecondsOf(start.pid) -
        before.node +
        (await serverUsage(installation.db, undefined)).postgresSeconds -
        before.server,
      peakMegabytes: peakMegabytesOf(start.pid),
    };
    const medians = [...taken].map(
      ([path, times]) =>
        [
          path,
          quantile(
            times.sort((a, b) => a - b),
            0.5,
          ),
        ] as const,
    );
    const slowest = medians.reduce((one, other) => (other[1] > one[1] ? other : one));
    return {
      rows: [
        row,
        {
          ...row,
          what: 'of that, the process without the database',
          cpuSeconds: cpuSecondsOf(start.pid) - before.node,
        },
      ],
      verdicts: [
        judge('an answer for 200 readers, median', quantile(all, 0.5), 'at most', 0.5, 's'),
        judge('an answer for 200 readers, 95th percentile', quantile(all, 0.95), 'at most', 1, 's'),
        judge(`the slowest page for 200 readers, ${slowest[0]}, median`, slowest[1], 'at most', 0.5, 's'),
      ],
    };
  } finally {
    await dispatcher.close();
    start.kill('SIGTERM');
    await once(start, 'close');
    site.child.kill('SIGTERM');
    await installation.close();
  }
};

/** Asks for one after the other until the time is over, and notes how long each took, in seconds. */
async function read(
  address: string,
  dispatcher: Agent,
  reader: number,
  until: number,
  taken: ReadonlyMap<string, number[]>,
): Promise<void> {
  for (let at = reader; performance.now() < until; at++) {
    const path = PATHS[at % PATHS.length] as string;
    const begin = performance.now();
    const answer = await request(`${address}${path}`, { dispatcher });
    await answer.body.dump({ limit: Number.MAX_SAFE_INTEGER });
    if (answer.statusCode !== 200) throw new Error(`${path} was answered ${answer.statusCode}`);
    taken.get(path)?.push((performance.now() - begin) / 1_000);
  }
}

/** A process that is still starting refuses. */
async function startPull(address: string): Promise<void> {
  for (;;) {
    const answer = await request(`${address}/api/v1/feeds/acme/pulls`, { method: 'POST' });
    const text = await answer.body.text();
    if (answer.statusCode === 202) return;
    if (answer.statusCode !== 409) throw new Error(`the pull was answered ${answer.statusCode}: ${text}`);
    await delay(100);
  }
}

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

async function untilReady(address: string): Promise<void> {
  for (;;) {
    const answer = await request(`${address}/readyz`).catch(() => undefined);
    await answer?.body.dump();
    if (answer?.statusCode === 200) return;
    await delay(100);
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
