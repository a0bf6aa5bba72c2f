// Measures a pull without changes, plain and gzipped, beside other ways to read the same file.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/package-root.ts';
import { mapFeed, openInstallation } from '../installation.ts';
import { run } from '../run-child.ts';
import {
  bytesOf,
  fastest,
  fastestOfEach,
  feedFile,
  judge,
  lineOf,
  type Measured,
  type Part,
  scriptOf,
  type TimedRun,
  type Workbench,
} from '../workbench.ts';

const PART = 'no-change';
/** V8 strings are limited to 512 MiB, and the tree of a larger file does not fit into memory. */
const MOST_RECORDS_WHOLE = 100_000;

export const noChange: Part = async (bench) => {
  const shape = { records: bench.records, seed: 1, changedPer10k: 0 };
  const plain = await feedFile(bench, shape);
  const packed = await feedFile(bench, shape, 'xml.gz');
  const bytes = bytesOf(plain);
  const line = (what: string, result: TimedRun) => lineOf(PART, what, bench.records, result, bytes);

  const ours = await openInstallation(bench.server, bench.folder, { source: plain });
  const zipped = await openInstallation(bench.server, bench.folder, { source: packed });
  bench.say('filling the mappings');
  await mapFeed(ours, shape);
  await mapFeed(zipped, shape);
  const main = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.js');
  const timed = await fastestOfEach(bench, {
    floor: { script: scriptOf('peers/read-file'), args: [plain] },
    pull: { script: scriptOf('pull'), args: [ours.configPath, 'acme'] },
    saxes: { script: scriptOf('peers/saxes'), args: [plain] },
    gunzip: { script: scriptOf('peers/gunzip'), args: [packed] },
    pullPacked: { script: scriptOf('pull'), args: [zipped.configPath, 'acme'] },
    whole: { script: main, args: ['sync', '--json', '--config', ours.configPath] },
    sax: { script: scriptOf('peers/sax'), args: [plain], runs: 1 },
  });
  await ours.close();
  await zipped.close();

  const floor = line('reading alone', timed.floor);
  const pull = line('jobmirror pull', timed.pull);
  const whole = line('jobmirror sync, whole command', { ...timed.whole, seconds: timed.whole.wallSeconds });
  const saxes = line('saxes, events only', timed.saxes);
  const sax = line('sax, events only', timed.sax);
  const gunzip = line('gunzip alone', timed.gunzip);
  const pullPacked = line('jobmirror pull, gzip', timed.pullPacked);
  const parsed = await parseWhole(bench);
  const rows = [floor, pull, whole, saxes, sax, parsed, ...(await iterparse(bench, plain, bytes)), gunzip, pullPacked];
  return {
    rows,
    verdicts: [
      judge('no-change pull, plain', speed(pull), 'at least', 500, 'MB/s'),
      judge('no-change pull, plain, against saxes', speed(pull) / speed(saxes), 'at least', 3, '×'),
      judge('no-change pull, plain, against fast-xml-parser', speed(pull) / speed(parsed), 'at least', 8, '×'),
      judge('no-change pull, gzip, against gunzip', (100 * speed(pullPacked)) / speed(gunzip), 'at least', 50, '%'),
      judge(`whole command, ${bench.records} unchanged`, whole.seconds, 'at most', bench.records / 100_000, 's'),
      judge(`whole command, ${bench.records} unchanged, memory`, whole.peakMegabytes, 'at most', 250, 'MB'),
    ],
  };
};

const speed = ({ megabytes = 0, seconds }: Measured): number => megabytes / seconds;

async function parseWhole(bench: Workbench): Promise<Measured> {
  const records = Math.min(bench.records, MOST_RECORDS_WHOLE);
  const path = await feedFile(bench, { records, seed: 1, changedPer10k: 0 });
  const flags = ['--max-old-space-size=12000'];
  const result = await fastest(bench, { script: scriptOf('peers/fast-xml-parser'), args: [path], flags, runs: 1 });
  return lineOf(PART, `fast-xml-parser, whole file of ${records}`, records, result, bytesOf(path));
}

async function iterparse(bench: Workbench, path: string, bytes: number): Promise<Measured[]> {
  if (spawnSync('python3', ['--version']).status !== 0) return [];
  bench.say('iterparse');
  const script = join(packageRoot, 'bench', 'peers', 'iterparse.py');
  const result = await run('python3', [script, path]);
  return [
    lineOf(PART, "Python's iterparse", bench.records, { ...result, seconds: Number(result.reported.seconds) }, bytes),
  ];
}
