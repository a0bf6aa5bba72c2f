// Measures many small feeds that are pulled in the same second of every minute: how late pulls begin, and what they cost.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../src/store/postgres/database.ts';
import { BENCH_ENV, openInstallation } from '../installation.ts';
import { cpuSecondsOf, peakMegabytesOf, serverUsage } from '../server-usage.ts';
import { feedFile, judge, MAIN, type Part, startScript } from '../workbench.ts';

const PART = 'schedules';
const POSTINGS = 3;
const CORES = 2;
const MINUTE_MS = 60_000;

export const schedules: Part = async (bench) => {
  const source = await startScript('small-feeds', [String(POSTINGS)]);
  const site = await startScript('minimal-site', []);
  const acme = await feedFile(bench, { records: POSTINGS, seed: 1, changedPer10k: 0 });
  const installation = await openInstallation(bench.server, bench.folder, { source: acme, siteUrl: site.url });
  const feeds = Array.from({ length: bench.feeds }, (_, at) => feedText(`feed${at}`, `${source.url}/${at}`));
  await appendFile(installation.configPath, `${feeds.join('')}listen: { port: 0 }\nlog: { level: warn }\n`);
  const { db } = installation;
  const start = spawn(process.execPath, [MAIN, 'start', '--config', installation.configPath], {
    env: { ...process.env, ...BENCH_ENV },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    bench.say(`the first pull of ${bench.feeds} feeds`);
    await untilMirrored(db, bench.feeds);
    // Wait for the first minute that is measured in full.
    await delay(MINUTE_MS - (Date.now() % MINUTE_MS) - 1_000);
    bench.say(`${bench.minutes} minutes`);
    const before = {
      node: cpuSecondsOf(start.pid),
      server: (await serverUsage(db, undefined)).postgresSeconds,
      at: Date.now(),
    };
    await delay(bench.minutes * MINUTE_MS);
    const seconds = (Date.now() - before.at) / 1000;
    const node = cpuSecondsOf(start.pid) - before.node;
    const server = (await serverUsage(db, undefined)).postgresSeconds - before.server;
    // A pull of the last second may still be running.
    await delay(5_000);
    const found = await readPulls(db, before.at, seconds);
    const row = {
      part: PART,
      what: `${bench.feeds} feeds of ${POSTINGS} postings, every minute`,
      count: found.pulls,
      seconds,
      cpuSeconds: node + server,
      peakMegabytes: peakMegabytesOf(start.pid),
    };
    return {
      rows: [row, { ...row, what: 'of that, the process without the database', cpuSeconds: node }],
      verdicts: [
        judge('scheduled pulls, the latest start', found.latest, 'at most', 10, 's'),
        judge('scheduled pulls, the latest end', found.ended, 'at most', 60, 's'),
        judge('scheduled pulls that were skipped', bench.feeds * bench.minutes - found.pulls, 'at most', 0, ''),
        judge('scheduled pulls, CPU of two cores', (100 * (node + server)) / (CORES * seconds), 'at most', 50, '%'),
      ],
    };
  } finally {
    start.kill('SIGTERM');
    await once(start, 'close');
    source.child.kill('SIGTERM');
    site.child.kill('SIGTERM');
    await installation.close();
  }
};

const feedText = (name: string, source: string): string =>
  `  ${name}: { source: "${source}", format: indeed, site: board, schedule: "* * * * *" }\n`;

async function untilMirrored(db: Database, feeds: number): Promise<void> {
  for (;;) {
    const [row] = await db.query<{ done: boolean }>(
      `select (select count(distinct feed) from pull where status = 'mirrored') >= $1
         and not exists (select from change) as done`,
      [feeds],
    );
    if (row?.done === true) return;
    await delay(500);
  }
}

/** Scheduled pulls that began in a period: their number, the latest start and the latest end after the due minute. */
async function readPulls(db: Database, fromMs: number, seconds: number) {
  const [row] = await db.query<{ pulls: number; latest: number; ended: number }>(
    `select count(*) as pulls,
       max(extract(epoch from started_at - date_trunc('minute', started_at)))::float8 as latest,
       max(extract(epoch from finished_at - date_trunc('minute', started_at)))::float8 as ended
     from pull where started_at >= $1 and started_at < $1::timestamptz + make_interval(secs => $2)
       and status = 'mirrored' and feed like 'feed%'`,
    [new Date(fromMs), seconds],
  );
  return row ?? { pulls: 0, latest: Number.POSITIVE_INFINITY, ended: Number.POSITIVE_INFINITY };
}
