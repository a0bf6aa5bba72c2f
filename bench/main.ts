// `npm run bench`: measures the named parts, or all of them, and prints the results beside the goals.
import { mkdirSync } from 'node:fs';
import { cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { openEmbeddedServer } from '../src/embedded-postgres/server.ts';
import { chain } from './parts/chain.ts';
import { firstPull, onePercent } from './parts/changed.ts';
import { details } from './parts/details.ts';
import { formats } from './parts/formats.ts';
import { growth, tenfold } from './parts/growth.ts';
import { noChange } from './parts/no-change.ts';
import { readers } from './parts/readers.ts';
import { recovery } from './parts/recovery.ts';
import { redisWindow } from './parts/redis-window.ts';
import { schedules } from './parts/schedules.ts';
import type { Measured, Part, PartResult, Verdict } from './workbench.ts';

const PARTS: Readonly<Record<string, Part>> = {
  'no-change': noChange,
  formats,
  details,
  'one-percent': onePercent,
  'first-pull': firstPull,
  chain,
  growth,
  redis: redisWindow,
  recovery,
  schedules,
  readers,
};

const count = (text: string): number => {
  const value = Number(text.replaceAll('_', ''));
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('must be a whole number above 0');
  return value;
};

/** Only when named: an hour, and 30 GB of disk, with a million records. */
const NAMED_PARTS: Readonly<Record<string, Part>> = { tenfold };

const program = new Command('bench')
  .description(`Measures jobmirror. Parts: ${Object.keys(PARTS).join(', ')}; all by default. Only if named: tenfold.`)
  .argument('[part...]')
  .option('--records <n>', 'postings of the large feeds', count, 1_000_000)
  .option('--changes <n>', 'changes sent through the whole chain', count, 20_000)
  .option('--concurrency <n>', 'requests in flight', count, 64)
  .option('--feeds <n>', 'small feeds that are pulled every minute', count, 1_000)
  .option('--pages <n>', 'pages of a list whose postings need details', count, 1_000)
  .option('--minutes <n>', 'minutes of such pulls that are measured', count, 3)
  .option('--runs <n>', 'runs of each contestant; the fastest counts', count, 5)
  .option('--folder <path>', 'where feeds and database are kept', join(tmpdir(), 'jobmirror-bench'))
  .option('--json', 'print the results as JSON')
  .parse();

const options = program.opts<{
  records: number;
  changes: number;
  concurrency: number;
  feeds: number;
  pages: number;
  minutes: number;
  runs: number;
  folder: string;
  json?: true;
}>();
const names = program.args.length === 0 ? Object.keys(PARTS) : program.args;
const parts = { ...PARTS, ...NAMED_PARTS };
const unknown = names.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) program.error(`unknown part ${unknown.join(', ')}; parts: ${Object.keys(parts).join(', ')}`);

const folder = resolve(options.folder);
mkdirSync(folder, { recursive: true });
const server = await openEmbeddedServer(join(folder, 'database'));
const results: PartResult[] = [];
try {
  for (const name of names) {
    const say = (text: string) => process.stderr.write(`${name}: ${text}\n`);
    results.push(await (parts[name] as Part)({ ...options, folder, server, say }));
  }
} finally {
  await server.leave();
}
const machine = {
  cpu: `${cpus().length} × ${cpus()[0]?.model.trim()}`,
  memoryGigabytes: Math.round(totalmem() / 1e9),
  node: process.version,
  loadAverage: loadavg().map((load) => Number(load.toFixed(1))),
};
const rows = results.flatMap((result) => result.rows);
const verdicts = results.flatMap((result) => result.verdicts);
if (options.json) console.log(JSON.stringify({ machine, rows, verdicts }, undefined, 1));
else printTables(rows, verdicts);

function printTables(measured: readonly Measured[], goals: readonly Verdict[]): void {
  console.log(
    `${machine.cpu}, ${machine.memoryGigabytes} GB, Node ${machine.node}, load ${machine.loadAverage.join(' ')}\n`,
  );
  printTable(
    ['part', 'what', 'count', 'seconds', 'MB/s', 'a second', 'CPU s', 'peak MB'],
    measured.map((row) => [
      row.part,
      row.what,
      String(row.count),
      row.seconds.toFixed(2),
      row.megabytes === undefined ? '' : (row.megabytes / row.seconds).toFixed(0),
      (row.count / row.seconds).toFixed(0),
      row.cpuSeconds.toFixed(2),
      row.peakMegabytes.toFixed(0),
    ]),
  );
  const costs = measured.flatMap(({ part, what, perChange }) =>
    perChange === undefined ? [] : [{ part, what, perChange }],
  );
  if (costs.length > 0) {
    console.log('');
    printTable(
      ['part', 'of each change', 'worker ms', 'Postgres ms', 'Redis ms', 'statements', 'WAL bytes'],
      costs.map(({ part, what, perChange: cost }) => [
        part,
        what,
        cost.workerMs.toFixed(3),
        cost.postgresMs.toFixed(3),
        cost.redisMs.toFixed(3),
        cost.statements.toFixed(2),
        cost.walBytes.toFixed(0),
      ]),
    );
  }
  console.log('');
  printTable(
    ['measure', 'goal', 'found', ''],
    goals.map(({ measure, goal, found, reached }) => [measure, goal, found, reached ? 'reached' : 'MISSED']),
  );
}

function printTable(head: readonly string[], lines: readonly (readonly string[])[]): void {
  const widths = head.map((title, at) => Math.max(title.length, ...lines.map((line) => (line[at] ?? '').length)));
  for (const line of [head, ...lines]) {
    console.log(
      line.map((cell, at) => (at < 2 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  '),
    );
  }
}
