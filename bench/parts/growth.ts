// Measures how time and memory grow: pulls of a tenth and of all postings, and the index of ten times as many mappings.
import { mapFeed, mapSynthetic, openInstallation } from '../installation.ts';
import { runNode } from '../run-child.ts';
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

const PART = 'growth';

export const growth: Part = async (bench) => {
  const small = await pullOf(bench, Math.round(bench.records / 10));
  const large = await pullOf(bench, bench.records);
  const indexed = await loadIndex(bench, bench.records);
  const many = await loadIndex(bench, bench.records * 10);
  const bytesEach = ((many.indexMegabytes ?? 0) * 1e6) / many.count;
  return {
    rows: [small, large, indexed, many],
    verdicts: [
      judge('ten times the postings', large.seconds / small.seconds, 'at most', 10.5, '× the time'),
      judge('index load, ten times the mappings', many.seconds / indexed.seconds, 'at most', 10.5, '× the time'),
      judge('memory of the index', bytesEach, 'at most', 48, 'bytes a posting'),
      judge(
        'memory of the process beyond the smaller pull',
        ((many.peakMegabytes - indexed.peakMegabytes) * 1e6) / (many.count - indexed.count),
        'at most',
        48,
        'bytes a posting',
      ),
    ],
  };
};

async function pullOf(bench: Workbench, records: number): Promise<Measured> {
  const shape = { records, seed: 1, changedPer10k: 0 };
  const source = await feedFile(bench, shape);
  const installation = await openInstallation(bench.server, bench.folder, { source });
  await mapFeed(installation, shape);
  const result = await fastest(bench, scriptOf('pull'), [installation.configPath, 'acme']);
  await installation.close();
  return lineOf(PART, `pull of ${records}, nothing changed`, records, result, bytesOf(source));
}

async function loadIndex(bench: Workbench, rows: number): Promise<Measured> {
  const installation = await openInstallation(bench.server, bench.folder, { source: 'unused.xml' });
  bench.say(`making ${rows} mappings`);
  await mapSynthetic(installation, rows);
  const env = { BENCH_DATABASE_URL: installation.databaseUrl };
  const result = await runNode(scriptOf('load-index'), [], { env });
  await installation.close();
  const line = lineOf(PART, `index of ${rows} mappings`, rows, { ...result, seconds: Number(result.said.seconds) });
  return { ...line, indexMegabytes: Number(result.said.indexBytes) / 1e6 };
}
