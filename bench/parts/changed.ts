// Measures pulls that find changes: one record in a hundred changed, and the first pull of a feed.
import { mapFeed, openInstallation } from '../installation.ts';
import { bytesOf, fastest, fastestOfEach, feedFile, judge, lineOf, type Part, scriptOf } from '../workbench.ts';

/** A pull with 1 % changed, until the backlog is committed, compared with a pull without changes. */
export const onePercent: Part = async (bench) => {
  const before = { records: bench.records, seed: 1, changedPer10k: 0 };
  const after = { ...before, changedPer10k: 100 };
  const files = [await feedFile(bench, before), await feedFile(bench, after)] as const;
  const [unchanged, changed] = [
    await openInstallation(bench.server, bench.folder, { source: files[0] }),
    await openInstallation(bench.server, bench.folder, { source: files[1] }),
  ];
  bench.say('filling the mappings');
  await mapFeed(unchanged, before);
  await mapFeed(changed, before);
  // Work that the previous run left to the server must not count for the next run.
  const resolve = async () => {
    await unchanged.db.query('checkpoint');
  };
  const forget = async () => {
    await changed.db.query('truncate change, kept_record');
    await resolve();
  };
  const { same, moved } = await fastestOfEach(bench, {
    same: { script: scriptOf('pull'), args: [unchanged.configPath, 'acme'], before: resolve },
    moved: { script: scriptOf('pull'), args: [changed.configPath, 'acme'], before: forget },
  });
  await unchanged.close();
  await changed.close();
  return {
    rows: [
      lineOf('one-percent', 'nothing changed', bench.records, same, bytesOf(files[0])),
      lineOf('one-percent', '1 % changed', bench.records, moved, bytesOf(files[1])),
    ],
    verdicts: [judge('1 % changed against nothing changed', moved.seconds / same.seconds, 'at most', 1.3, '×')],
  };
};

/** The first pull of a feed: everything is parsed and written. */
export const firstPull: Part = async (bench) => {
  const source = await feedFile(bench, { records: bench.records, seed: 1, changedPer10k: 0 });
  const installation = await openInstallation(bench.server, bench.folder, { source });
  const forget = async () => {
    await installation.db.query('truncate change, kept_record');
  };
  const pull = { script: scriptOf('pull'), args: [installation.configPath, 'acme'], before: forget, runs: 1 };
  const result = await fastest(bench, pull);
  await installation.close();
  return {
    rows: [lineOf('first-pull', 'first pull', bench.records, result, bytesOf(source))],
    verdicts: [
      judge(`first pull of ${bench.records}`, result.seconds, 'at most', (90 * bench.records) / 1e6, 's'),
      judge(`first pull of ${bench.records}, memory`, result.peakBytes / 1e6, 'at most', 250, 'MB'),
    ],
  };
};
