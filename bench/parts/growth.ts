// Measures how time and memory grow: pulls of a tenth and of all postings, and an index of ten times as many mappings.
import { type Installation, mapFeed, mapSynthetic, openInstallation } from '../installation.ts';
import { serverUsage } from '../server-usage.ts';
import {
  bytesOf,
  type Contestant,
  fastestOfEach,
  feedFile,
  judge,
  lineOf,
  type Measured,
  type Part,
  scriptOf,
  startScript,
  type TimedRun,
  timeOnce,
  type Workbench,
} from '../workbench.ts';

const PART = 'growth';

export const growth: Part = async (bench) => {
  const [small, large] = await pulls(bench, Math.round(bench.records / 10), bench.records);
  const [indexed, many] = await indexes(bench, bench.records, bench.records * 10);
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

type Pair = readonly [fewer: Measured, more: Measured];

async function pulls(bench: Workbench, ...[few, many]: readonly [number, number]): Promise<Pair> {
  const fewer = await openFeed(bench, few);
  const more = await openFeed(bench, many);
  const script = scriptOf('pull');
  const timed = await fastestOfEach(bench, {
    fewer: { script, args: [fewer.installation.configPath, 'acme'] },
    more: { script, args: [more.installation.configPath, 'acme'] },
  });
  await fewer.installation.close();
  await more.installation.close();
  const line = (records: number, result: TimedRun, source: string) =>
    lineOf(PART, `pull of ${records}, nothing changed`, records, result, bytesOf(source));
  return [line(few, timed.fewer, fewer.source), line(many, timed.more, more.source)];
}

async function openFeed(
  bench: Workbench,
  records: number,
): Promise<{ readonly installation: Installation; readonly source: string }> {
  const shape = { records, seed: 1, changedPer10k: 0 };
  const source = await feedFile(bench, shape);
  const installation = await openInstallation(bench.server, bench.folder, { source });
  await mapFeed(installation, shape);
  return { installation, source };
}

async function indexes(bench: Workbench, ...[few, many]: readonly [number, number]): Promise<Pair> {
  const fewer = await openMappings(bench, few);
  const more = await openMappings(bench, many);
  const contestant = ({ databaseUrl }: Installation): Contestant => ({
    script: scriptOf('load-index'),
    args: [],
    env: { BENCH_DATABASE_URL: databaseUrl },
  });
  const timed = await fastestOfEach(bench, { fewer: contestant(fewer), more: contestant(more) });
  await fewer.close();
  await more.close();
  const line = (rows: number, result: TimedRun): Measured => ({
    ...lineOf(PART, `index of ${rows} mappings`, rows, result),
    indexMegabytes: Number(result.reported.indexBytes) / 1e6,
  });
  return [line(few, timed.fewer), line(many, timed.more)];
}

async function openMappings(bench: Workbench, rows: number): Promise<Installation> {
  const installation = await openInstallation(bench.server, bench.folder, { source: 'unused.xml' });
  bench.say(`making ${rows} mappings`);
  await mapSynthetic(installation, rows);
  return installation;
}

/**
 * A feed ten times as large as the large feeds, served as it is generated: its first pull, one without changes and one with 1 % changed,
 * each against the same pull of the usual size. Each runs once.
 */
export const tenfold: Part = async (bench) => {
  const one = await threePulls(bench, bench.records);
  const ten = await threePulls(bench, bench.records * 10);
  const rows = [...one, ...ten].map(({ measured }) => measured);
  return {
    rows,
    verdicts: ten.flatMap(({ kind, measured, postgresSeconds }, at) => {
      const few = one[at] as PullOfSize;
      const cpu = (measured.cpuSeconds + postgresSeconds) / (few.measured.cpuSeconds + few.postgresSeconds);
      return [
        judge(`${kind}, ten times the postings`, measured.seconds / few.measured.seconds, 'at most', 11, '× the time'),
        judge(`${kind}, ten times the postings, with Postgres`, cpu, 'at most', 11, '× the CPU'),
        judge(`${kind} of ${measured.count}, memory`, measured.peakMegabytes, 'at most', 600, 'MB'),
      ];
    }),
  };
};

interface PullOfSize {
  readonly kind: string;
  readonly measured: Measured;
  readonly postgresSeconds: number;
}

async function threePulls(bench: Workbench, records: number): Promise<readonly PullOfSize[]> {
  const pulls: PullOfSize[] = [];
  const pull = async (installation: Installation, kind: string): Promise<void> => {
    const contestant = { script: scriptOf('pull'), args: [installation.configPath, 'acme'] };
    const before = await serverUsage(installation.db, undefined);
    const timed = await timeOnce(bench, contestant, 0);
    const { postgresSeconds } = await serverUsage(installation.db, undefined);
    pulls.push({
      kind,
      measured: lineOf('tenfold', `${kind} of ${records}`, records, timed),
      postgresSeconds: postgresSeconds - before.postgresSeconds,
    });
    bench.say(`${kind} of ${records}: ${timed.seconds.toFixed(1)} s, ${(timed.peakBytes / 1e6).toFixed(0)} MB`);
  };
  const feed = await startScript('serve-feed', [String(records)]);
  const installation = await openInstallation(bench.server, bench.folder, { source: feed.url });
  try {
    await pull(installation, 'first pull');
    await installation.db.query('truncate change, pull, feed_state cascade');
    bench.say(`filling the mappings of ${records}`);
    await mapFeed(installation, { records, seed: 1, changedPer10k: 0 });
    await installation.db.query('checkpoint');
    await pull(installation, 'pull without changes');
    await fetch(feed.url, { method: 'POST', headers: { 'changed-per-10k': '100' } });
    await pull(installation, 'pull with 1 % changed');
  } finally {
    feed.child.kill('SIGTERM');
    await installation.close();
  }
  return pulls;
}
