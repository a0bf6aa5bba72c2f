// What every part works with: a folder, a server, feeds that are written once, and contestants that are run several times.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { EmbeddedServer } from '../src/store/embedded/server.ts';
import { type FeedShape, writeFeed } from './feed-writer.ts';
import { BENCH_ENV } from './installation.ts';
import { type ChildResult, runNode } from './run-child.ts';

export interface Workbench {
  readonly folder: string;
  readonly server: EmbeddedServer;
  /** Postings of the large feeds. */
  readonly records: number;
  /** Changes that are sent through the whole chain. */
  readonly changes: number;
  readonly concurrency: number;
  /** Times that each contestant runs; the fastest run counts. */
  readonly runs: number;
  /** Says what is under way. */
  readonly say: (text: string) => void;
}

/** One line of the result. */
export interface Measured {
  readonly part: string;
  readonly what: string;
  /** Postings read or changes sent. */
  readonly count: number;
  /** Of the work itself, without the start of the process, where the contestant tells it apart. */
  readonly seconds: number;
  readonly megabytes?: number;
  readonly cpuSeconds: number;
  readonly peakMegabytes: number;
  readonly indexMegabytes?: number;
}

/** A measure of the project's goals, with what came out. */
export interface Verdict {
  readonly measure: string;
  readonly goal: string;
  readonly found: string;
  readonly met: boolean;
}

export interface PartResult {
  readonly rows: readonly Measured[];
  readonly verdicts: readonly Verdict[];
}

/** A part of the benchmark: measures, and compares with its goals. */
export type Part = (bench: Workbench) => Promise<PartResult>;

const scripts = import.meta.dirname;

/** Path of a compiled script of the benchmark. */
export const scriptOf = (name: string): string => join(scripts, `${name}.js`);

/** The file of a feed, written if it is not there yet; `.gz` gives it gzipped. */
export async function feedFile(bench: Workbench, shape: FeedShape, ending: 'xml' | 'xml.gz' = 'xml'): Promise<string> {
  const path = join(bench.folder, `feed-${shape.records}-${shape.seed}-${shape.changedPer10k}.${ending}`);
  bench.say(`writing ${path}, if it is not there`);
  await writeFeed(path, shape);
  return path;
}

export const bytesOf = (path: string): number => statSync(path).size;

/** Runs a script several times and gives its fastest run, by the time that it tells of itself or else by the clock. */
export async function fastest(
  bench: Workbench,
  script: string,
  args: readonly string[],
  options: { readonly flags?: readonly string[]; readonly before?: () => Promise<void>; readonly runs?: number } = {},
): Promise<ChildResult & { readonly seconds: number }> {
  let best: (ChildResult & { seconds: number }) | undefined;
  for (let run = 0; run < (options.runs ?? bench.runs); run++) {
    bench.say(`${script} ${args.join(' ')} (run ${run + 1})`);
    await options.before?.();
    const result = await runNode(script, args, { env: BENCH_ENV, flags: options.flags, cwd: bench.folder });
    const seconds = typeof result.said.seconds === 'number' ? result.said.seconds : result.wallSeconds;
    if (best === undefined || seconds < best.seconds) best = { ...result, seconds };
  }
  if (best === undefined) throw new Error('nothing was run');
  return best;
}

/** The line of a contestant's result. */
export const lineOf = (
  part: string,
  what: string,
  count: number,
  result: ChildResult & { readonly seconds: number },
  bytes?: number,
): Measured => ({
  part,
  what,
  count,
  seconds: result.seconds,
  ...(bytes === undefined ? {} : { megabytes: bytes / 1e6 }),
  cpuSeconds: result.cpuSeconds,
  peakMegabytes: result.peakBytes / 1e6,
});

/** Whether a figure reaches its goal, in words. */
export function judge(
  measure: string,
  found: number,
  bound: 'at least' | 'at most',
  goal: number,
  unit: string,
): Verdict {
  const met = bound === 'at least' ? found >= goal : found <= goal;
  return { measure, goal: `${bound} ${goal} ${unit}`, found: `${round(found)} ${unit}`, met };
}

const round = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toFixed(2));
