// Shared by all parts: folder, server, feeds that are written once, and contestants that run several times.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
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
  /** Changes sent through the whole chain. */
  readonly changes: number;
  readonly concurrency: number;
  /** Number of small feeds that are pulled every minute, and the minutes to measure. */
  readonly feeds: number;
  readonly minutes: number;
  /** Pages of a list whose postings need details. */
  readonly pages: number;
  /** How often each contestant runs; the fastest run counts. */
  readonly runs: number;
  /** Reports progress. */
  readonly say: (text: string) => void;
}

/** One line of the result. */
export interface Measured {
  readonly part: string;
  readonly what: string;
  /** Postings read or changes sent. */
  readonly count: number;
  /** The work itself, without the start of the process if the contestant reports it separately. */
  readonly seconds: number;
  readonly megabytes?: number;
  readonly cpuSeconds: number;
  readonly peakMegabytes: number;
  readonly indexMegabytes?: number;
  /** What one change costs; without the site. */
  readonly perChange?: CostOfChange;
}

/** CPU in milliseconds. */
export interface CostOfChange {
  readonly workerMs: number;
  readonly postgresMs: number;
  readonly redisMs: number;
  readonly statements: number;
  readonly walBytes: number;
}

/** A goal of the project, with the measured figure. */
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

/** A part of the benchmark: measures, and compares the results with the goals. */
export type Part = (bench: Workbench) => Promise<PartResult>;

const scripts = import.meta.dirname;

/** Path of a compiled script of the benchmark. */
export const scriptOf = (name: string): string => join(scripts, `${name}.js`);

/** The compiled command line. */
export const MAIN = join(scripts, '..', 'src', 'cli', 'main.js');

/** Starts a script that prints its address. */
export async function startScript(
  name: string,
  args: readonly string[],
): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [scriptOf(name), ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, url: line.toString().trim() };
}

/** Path of a feed's file, which is written if it does not exist yet; `xml.gz` gzips it. */
export async function feedFile(
  bench: Workbench,
  shape: FeedShape,
  ending: 'xml' | 'xml.gz' | 'json' | 'csv' = 'xml',
): Promise<string> {
  const path = join(bench.folder, `feed-${shape.records}-${shape.seed}-${shape.changedPer10k}.${ending}`);
  bench.say(`writing ${path} unless it exists`);
  await writeFeed(path, shape);
  return path;
}

export const bytesOf = (path: string): number => statSync(path).size;

/** A script to measure, alone or compared with others. */
export interface Contestant {
  readonly script: string;
  readonly args: readonly string[];
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Restores the initial state before each run. */
  readonly before?: () => Promise<void>;
  /** Maximum number of runs; by default that of the workbench. */
  readonly runs?: number;
}

/** A run with the seconds that the script reports, or else the wall-clock time. */
export type TimedRun = ChildResult & { readonly seconds: number };

/**
 * Runs contestants several times and returns the fastest run of each. The runs alternate, so a slow minute of the machine
 * affects all contestants equally: use one call for everything that is compared closely.
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
    if (best[name] === undefined) throw new Error(`${contestants[name].script} was not run, or reported no time`);
  }
  return best as Record<Name, TimedRun>;
}

/** Runs one contestant several times and returns its fastest run. */
export async function fastest(bench: Workbench, contestant: Contestant): Promise<TimedRun> {
  return (await fastestOfEach(bench, { contestant })).contestant;
}

/** Runs one contestant once. @param run its number, from 0, for progress */
export async function timeOnce(bench: Workbench, contestant: Contestant, run: number): Promise<TimedRun> {
  const { script, args, flags, env } = contestant;
  bench.say(`${script} ${args.join(' ')} (run ${run + 1})`);
  await contestant.before?.();
  const result = await runNode(script, args, { env: { ...BENCH_ENV, ...env }, flags, cwd: bench.folder });
  return {
    ...result,
    seconds: typeof result.reported.seconds === 'number' ? result.reported.seconds : result.wallSeconds,
  };
}

/** The result line of a contestant. */
export const lineOf = (part: string, what: string, count: number, result: TimedRun, bytes?: number): Measured => ({
  part,
  what,
  count,
  seconds: result.seconds,
  ...(bytes === undefined ? {} : { megabytes: bytes / 1e6 }),
  cpuSeconds: result.cpuSeconds,
  peakMegabytes: result.peakBytes / 1e6,
});

/** Compares a figure with its goal. */
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
