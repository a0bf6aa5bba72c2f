// What every part works with: a folder, a server, feeds that are written once, and contestants that are run several times.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { EmbeddedServer } from '../src/embedded-postgres/server.ts';
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
  /** Small feeds that are pulled every minute, and for how many minutes. */
  readonly feeds: number;
  readonly minutes: number;
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
  readonly reached: boolean;
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

/** A script that is run to be compared with others, or by itself. */
export interface Contestant {
  readonly script: string;
  readonly args: readonly string[];
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Puts things back to where they were, before each run. */
  readonly before?: () => Promise<void>;
  /** At most; the bench's number of runs by default. */
  readonly runs?: number;
}

/** A run, with the seconds that the script tells of itself, or else those of the clock. */
export type TimedRun = ChildResult & { readonly seconds: number };

/**
 * Runs contestants several times and gives the fastest run of each. They take turns, so that a slow minute of the machine
 * meets all of them: what is to be compared closely is run by one call.
 */
export async function fastestOfEach<Name extends string>(
  bench: Workbench,
  contestants: Readonly<Record<Name, Contestant>>,
): Promise<Readonly<Record<Name, TimedRun>>> {
  const best: Partial<Record<Name, TimedRun>> = {};
  for (let run = 0; run < bench.runs; run++) {
    for (const [name, contestant] of Object.entries(contestants) as [Name, Contestant][]) {
      if (run >= (contestant.runs ?? bench.runs)) continue;
      const timed = await timeOnce(bench, contestant, run);
      if (timed.seconds < (best[name]?.seconds ?? Number.POSITIVE_INFINITY)) best[name] = timed;
    }
  }
  for (const name of Object.keys(contestants) as Name[]) {
    if (best[name] === undefined) throw new Error(`${contestants[name].script} was not run, or told no time`);
  }
  return best as Record<Name, TimedRun>;
}

/** Runs one contestant several times and gives its fastest run. */
export async function fastest(bench: Workbench, contestant: Contestant): Promise<TimedRun> {
  return (await fastestOfEach(bench, { contestant })).contestant;
}

async function timeOnce(bench: Workbench, contestant: Contestant, run: number): Promise<TimedRun> {
  const { script, args, flags, env } = contestant;
  bench.say(`${script} ${args.join(' ')} (run ${run + 1})`);
  await contestant.before?.();
  const result = await runNode(script, args, { env: { ...BENCH_ENV, ...env }, flags, cwd: bench.folder });
  return { ...result, seconds: typeof result.said.seconds === 'number' ? result.said.seconds : result.wallSeconds };
}

/** The line of a contestant's result. */
export const lineOf = (part: string, what: string, count: number, result: TimedRun, bytes?: number): Measured => ({
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
  const reached = bound === 'at least' ? found >= goal : found <= goal;
  return { measure, goal: `${bound} ${goal} ${unit}`, found: `${round(found)} ${unit}`, reached };
}

const round = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toFixed(2));
