// Measures the work of a process without its start: time, CPU and the statements that it sends to Postgres.
import { performance } from 'node:perf_hooks';
import pg from 'pg';

let statements = 0;
const send = pg.Client.prototype.query as (...values: unknown[]) => unknown;
// Counted by the driver, as not every server has pg_stat_statements; BullMQ uses the same driver.
Object.assign(pg.Client.prototype, {
  query(this: pg.Client, ...values: unknown[]) {
    statements++;
    return send.apply(this, values);
  },
});

interface Work {
  readonly seconds: number;
  /** User and system time of all threads. */
  readonly workCpuSeconds: number;
  /** With those that begin and end transactions. */
  readonly statements: number;
}

/** Runs the work. What the process does before and after it is not measured. */
export async function measureWork(work: () => Promise<void>): Promise<Work> {
  const before = { at: performance.now(), cpu: process.cpuUsage(), statements };
  await work();
  const { user, system } = process.cpuUsage(before.cpu);
  return {
    seconds: (performance.now() - before.at) / 1000,
    workCpuSeconds: (user + system) / 1e6,
    statements: statements - before.statements,
  };
}
