// Measures a pull in which nothing changed, plain and gzipped, beside other ways to go through the same file.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/package-root.ts';
import { mapFeed, openInstallation } from '../installation.ts';
import { type ChildResult, run } from '../run-child.ts';
import {
  bytesOf,
  fastest,
  feedFile,
  judge,
  lineOf,
  type Measured,
  type Part,
  scriptOf,
  type Workbench,
} from '../workbench.ts';

const PART = 'no-change';
/** A string of V8 holds 512 MiB at most, and the tree of a larger file no longer fits into memory. */
const MOST_RECORDS_WHOLE = 100_000;

export const noChange: Part = async (bench) => {
  const shape = { records: bench.records, seed: 1, changedPer10k: 0 };
  const plain = await feedFile(bench, shape);
  const packed = await feedFile(bench, shape, 'xml.gz');
  const bytes = bytesOf(plain);
  const line = (what: string, result: ChildResult & { seconds: number }) =>
    lineOf(PART, what, bench.records, result, bytes);

  const ours = await openInstallation(bench.server, bench.folder, { source: plain });
  const zipped = await openInstallation(bench.server, bench.folder, { source: packed });
  bench.say('filling the mappings');
  await mapFeed(ours, shape);
  await mapFeed(zipped, shape);
  const pull = line('jobmirror pull', await fastest(bench, scriptOf('pull'), [ours.configPath, 'acme']));
  const main = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.js');
  const command = await fastest(bench, main, ['sync', '--json', '--config', ours.configPath]);
  const whole = line('jobmirror sync, whole command', { ...command, seconds: command.wallSeconds });
  const pullPacked = line('jobmirror pull, gzip', await fastest(bench, scriptOf('pull'), [zipped.configPath, 'acme']));
  await ours.close();
  await zipped.close();

  const saxes = line('saxes, events only', await fastest(bench, scriptOf('peers/saxes'), [plain]));
  const sax = line('sax, events only', await fastest(bench, scriptOf('peers/sax'), [plain], { runs: 1 }));
  const gunzip = line('gunzip alone', await fastest(bench, scriptOf('peers/gunzip'), [packed]));
  const floor = line('reading alone', await fastest(bench, scriptOf('peers/read-file'), [plain]));
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
  const result = await fastest(bench, scriptOf('peers/fast-xml-parser'), [path], { flags, runs: 1 });
  return lineOf(PART, `fast-xml-parser, whole file of ${records}`, records, result, bytesOf(path));
}

async function iterparse(bench: Workbench, path: string, bytes: number): Promise<Measured[]> {
  if (spawnSync('python3', ['--version']).status !== 0) return [];
  bench.say('iterparse');
  const script = join(packageRoot, 'bench', 'peers', 'iterparse.py');
  const result = await run('python3', [script, path]);
  return [
    lineOf(PART, "Python's iterparse", bench.records, { ...result, seconds: Number(result.said.seconds) }, bytes),
  ];
}
