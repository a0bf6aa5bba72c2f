// Measures changes per second, and what each change costs, through the whole chain into a minimal site, on both queues, in turn with
// a worker written by hand and with a bare request loop.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type PrivateRedis, redisForTests } from '../../test/support/redis.ts';
import { type Installation, openInstallation } from '../installation.ts';
import { serverUsage } from '../server-usage.ts';
import {
  type CostOfChange,
  feedFile,
  judge,
  lineOf,
  type Measured,
  type Part,
  scriptOf,
  type TimedRun,
  timeOnce,
  type Verdict,
  type Workbench,
} from '../workbench.ts';

const PART = 'chain';
/** A round takes a minute or more. */
const MOST_ROUNDS = 3;

/** The goals of the chain on one queue. */
interface Goals {
  readonly name: string;
  readonly perSecond: number;
  readonly ofPlain: number;
  readonly ofBare: number;
}

const ON_REDIS: Goals = { name: 'Redis', perSecond: 1_000, ofPlain: 1.5, ofBare: 0.25 };
const ON_DATABASE: Goals = { name: 'the database queue', perSecond: 500, ofPlain: 1.3, ofBare: 0.22 };

interface SentRun {
  readonly run: TimedRun;
  readonly cost: CostOfChange;
}

/** The fastest run of each contestant. */
class Fastest {
  readonly #runs = new Map<string, SentRun>();

  take(what: string, sent: SentRun): void {
    if (sent.run.seconds < (this.#runs.get(what)?.run.seconds ?? Number.POSITIVE_INFINITY)) this.#runs.set(what, sent);
  }

  of(what: string): SentRun {
    const found = this.#runs.get(what);
    if (found === undefined) throw new Error(`${what} was not measured`);
    return found;
  }
}

export const chain: Part = async (bench) => {
  const site = spawn(process.execPath, [scriptOf('minimal-site')], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [reported] = (await once(site.stdout, 'data')) as [Buffer];
  const siteUrl = reported.toString().trim();
  const redis = redisForTests();
  const server = redis.available ? await redis.start() : undefined;
  const queues = [
    ...(server === undefined ? [] : [{ goals: ON_REDIS, server }]),
    { goals: ON_DATABASE, server: undefined },
  ];
  try {
    const fastest = new Fastest();
    for (let round = 0; round < Math.min(bench.runs, MOST_ROUNDS); round++) {
      for (const { goals, server: onRedis } of queues) {
        fastest.take(`on ${goals.name}`, await sendAll(bench, siteUrl, onRedis, round));
        fastest.take(`plain worker on ${goals.name}`, await sendPlainly(bench, siteUrl, onRedis, round));
      }
      const args = [siteUrl, String(bench.changes), String(bench.concurrency)];
      const run = await timeOnce(bench, { script: scriptOf('peers/bare-undici'), args }, round);
      fastest.take('bare undici loop', {
        run,
        cost: { workerMs: 0, postgresMs: 0, redisMs: 0, statements: 0, walBytes: 0 },
      });
    }
    const bare = fastest.of('bare undici loop').run;
    const rows = queues.flatMap(({ goals: { name } }) => [
      rowOf(bench, `on ${name}`, fastest),
      rowOf(bench, `plain worker on ${name}`, fastest),
    ]);
    const verdicts = queues.flatMap(({ goals }) => verdictsOf(bench, goals, fastest, bare));
    return { rows: [...rows, lineOf(PART, 'bare undici loop', bench.changes, bare)], verdicts };
  } finally {
    site.kill();
    await server?.stop();
  }
};

const rowOf = ({ changes }: Workbench, what: string, fastest: Fastest): Measured => {
  const { run, cost } = fastest.of(what);
  return { ...lineOf(PART, what, changes, run), perChange: cost };
};

function verdictsOf({ changes }: Workbench, goals: Goals, fastest: Fastest, bare: TimedRun): Verdict[] {
  const { name, perSecond, ofPlain, ofBare } = goals;
  const { run, cost } = fastest.of(`on ${name}`);
  const plain = fastest.of(`plain worker on ${name}`).run;
  return [
    judge(`changes per second on ${name}`, changes / run.seconds, 'at least', perSecond, 'a second'),
    judge(`against a plain worker on ${name}`, plain.seconds / run.seconds, 'at least', ofPlain, '×'),
    judge(`against the bare undici loop on ${name}`, bare.seconds / run.seconds, 'at least', ofBare, '×'),
    judge(`CPU of the worker on ${name}`, cost.workerMs, 'at most', 0.5, 'ms a change'),
    judge(`statements on ${name}`, cost.statements, 'at most', 3, 'a change'),
    judge(`WAL on ${name}`, cost.walBytes, 'at most', 3_000, 'bytes a change'),
  ];
}

/** Sends all changes of a first pull. */
async function sendAll(
  bench: Workbench,
  siteUrl: string,
  redis: PrivateRedis | undefined,
  round: number,
): Promise<SentRun> {
  const { concurrency, changes } = bench;
  const source = await feedFile(bench, { records: changes, seed: 1, changedPer10k: 0 });
  const queue = redis?.url ?? 'database';
  const installation = await openInstallation(bench.server, bench.folder, { source, siteUrl, queue, concurrency });
  try {
    await timeOnce(bench, { script: scriptOf('pull'), args: [installation.configPath, 'acme'] }, round);
    return await measured(bench, installation, redis, () =>
      timeOnce(bench, { script: scriptOf('send'), args: [installation.configPath] }, round),
    );
  } finally {
    await installation.close();
  }
}

async function sendPlainly(
  bench: Workbench,
  siteUrl: string,
  redis: PrivateRedis | undefined,
  round: number,
): Promise<SentRun> {
  const installation = await openInstallation(bench.server, bench.folder, { source: 'none' });
  const args = [redis?.url ?? 'database', siteUrl, String(bench.changes), String(bench.concurrency)];
  // It contains the password, and arguments are printed.
  const env = { DATABASE_URL: installation.databaseUrl };
  try {
    return await measured(bench, installation, redis, () =>
      timeOnce(bench, { script: scriptOf('peers/plain-worker'), args, env }, round),
    );
  } finally {
    await installation.close();
  }
}

async function measured(
  { changes }: Workbench,
  { db }: Installation,
  redis: PrivateRedis | undefined,
  work: () => Promise<TimedRun>,
): Promise<SentRun> {
  const before = await serverUsage(db, redis?.pid);
  const run = await work();
  const after = await serverUsage(db, redis?.pid);
  if (run.reported.mapped !== changes) throw new Error(`${run.reported.mapped} of ${changes} were mirrored`);
  const ofEach = (total: number): number => total / changes;
  return {
    run,
    cost: {
      workerMs: ofEach(Number(run.reported.workCpuSeconds) * 1000),
      postgresMs: ofEach((after.postgresSeconds - before.postgresSeconds) * 1000),
      redisMs: ofEach((after.redisSeconds - before.redisSeconds) * 1000),
      statements: ofEach(Number(run.reported.statements)),
      walBytes: ofEach(after.walBytes - before.walBytes),
    },
  };
}
