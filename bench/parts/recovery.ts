// Measures how soon sending resumes after a worker was killed or Redis was emptied, and how long doubts take to resolve.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { redisForTests } from '../../test/support/redis.ts';
import { BENCH_ENV, type Installation, openInstallation } from '../installation.ts';
import { runNode } from '../run-child.ts';
import { feedFile, judge, type Part, scriptOf, type Verdict, type Workbench } from '../workbench.ts';

/** Some five seconds of work at this rate, with about twenty requests in flight at any moment. */
const POSTINGS = 500;
const REQUESTS_PER_SECOND = 100;
const LATENCY_MS = 200;
const ANSWERED_BEFORE = 100;
/** Everything else has its default, so doubts are first checked 60 s after their request. */
const SITE_LINES = '    reference_field: number\n    list_path: /jobs.xml\n';

const CHECK_EVERY_MS = 50;
const LONGEST_MS = 600_000;

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.js');

export const recovery: Part = async (bench) => {
  const redis = redisForTests();
  const verdicts: Verdict[] = [];
  verdicts.push(...(await replaceWorker(bench, 'database', 'database queue')));
  if (redis.available) {
    const first = await redis.start();
    verdicts.push(...(await replaceWorker(bench, first.url, 'Redis')));
    await first.stop();
    const second = await redis.start();
    verdicts.push(await emptyRedis(bench, second.url));
    await second.stop();
  }
  return { rows: [], verdicts };
};

/** Two workers share a backlog; one of them is killed with requests in flight. */
async function replaceWorker(bench: Workbench, queue: string, what: string): Promise<Verdict[]> {
  return inTheMiddle(bench, queue, 2, async ({ installation: { db }, workers: [victim] }) => {
    victim?.kill('SIGKILL');
    const killedAt = performance.now();
    // Its requests in flight are in doubt or were claimed again; everything else is sent.
    const rest = await until(killedAt, () => isEmpty(db, `where state <> 'in_doubt'`));
    const doubts = await count(db, '');
    const resolved = await until(killedAt, () => isEmpty(db, ''));
    return [
      judge(`worker killed, until another has sent the rest (${what})`, rest, 'at most', 15, 's'),
      judge(`until its ${doubts} creates in doubt are resolved (${what})`, resolved, 'at most', 300, 's'),
    ];
  });
}

async function emptyRedis(bench: Workbench, url: string): Promise<Verdict> {
  return inTheMiddle(bench, url, 1, async ({ installation: { db } }) => {
    const client = new Redis(url);
    await client.flushall();
    client.disconnect();
    const emptiedAt = performance.now();
    const rest = await until(emptiedAt, () => isEmpty(db, ''));
    return judge('Redis emptied, until everything is sent', rest, 'at most', 60, 's');
  });
}

interface Middle {
  readonly installation: Installation;
  readonly workers: readonly ChildProcess[];
}

/** Lets `workers` processes send part of a backlog, calls `then`, and checks that each posting became one job. */
async function inTheMiddle<T>(
  bench: Workbench,
  queue: string,
  workers: number,
  then: (middle: Middle) => Promise<T>,
): Promise<T> {
  const source = await feedFile(bench, { records: POSTINGS, seed: 1, changedPer10k: 0 });
  const site = await openSite(bench);
  const installation = await openInstallation(bench.server, bench.folder, {
    source,
    queue,
    siteUrl: site.sandbox.url,
    requestsPerSecond: REQUESTS_PER_SECOND,
    siteLines: SITE_LINES,
  });
  const children: ChildProcess[] = [];
  try {
    await runNode(scriptOf('pull'), [installation.configPath, 'acme'], { env: BENCH_ENV });
    let left = ANSWERED_BEFORE;
    const reached = site.sandbox.requests.next(() => --left === 0);
    bench.say(`${workers} workers on ${queue}`);
    for (let started = 0; started < workers; started++) children.push(startWorker(installation, site.token));
    await reached;
    const result = await then({ installation, workers: children });
    const jobs = await site.sandbox.inspect.jobs();
    if (jobs.length !== POSTINGS) throw new Error(`${POSTINGS} postings became ${jobs.length} jobs`);
    return result;
  } finally {
    await Promise.all(children.map(end));
    await installation.close();
    await site.close();
  }
}

async function openSite(bench: Workbench): Promise<{ sandbox: Sandbox; token: string; close(): Promise<void> }> {
  const home = await openInstallation(bench.server, bench.folder, { source: 'unused.xml' });
  const sandbox = await startSandbox({ databaseUrl: home.databaseUrl });
  const { token } = await sandbox.ensureUser('mirror@example.com', 'a password of the mirror');
  await sandbox.setFaults([{ name: 'latency', ms: LATENCY_MS }]);
  return {
    sandbox,
    token,
    async close() {
      await sandbox.close();
      await home.close();
    },
  };
}

const startWorker = (installation: Installation, token: string): ChildProcess =>
  spawn(process.execPath, [MAIN, 'work', '--config', installation.configPath], {
    env: { ...process.env, BENCH_TOKEN: token },
    stdio: 'ignore',
  });

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** Seconds from `since` until `holds` returns true. */
async function until(since: number, holds: () => Promise<boolean>): Promise<number> {
  while (!(await holds())) {
    if (performance.now() - since > LONGEST_MS) throw new Error(`still not reached after ${LONGEST_MS / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, CHECK_EVERY_MS));
  }
  return (performance.now() - since) / 1000;
}

async function count(db: Database, where: string): Promise<number> {
  const [row] = await db.query<{ n: number }>(`select count(*) as n from change ${where}`);
  return row?.n ?? 0;
}

const isEmpty = async (db: Database, where: string): Promise<boolean> => (await count(db, where)) === 0;
