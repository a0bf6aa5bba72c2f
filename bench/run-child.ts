// Runs one contestant in its own process and returns its output, CPU time and peak memory.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Resources of a process, from its start to its end. */
export interface Usage {
  readonly wallSeconds: number;
  /** User and system time of all threads. */
  readonly cpuSeconds: number;
  readonly peakBytes: number;
}

export interface ChildResult extends Usage {
  readonly status: number;
  /** The last line of standard output, if it is a JSON object; otherwise an empty object. */
  readonly reported: Readonly<Record<string, unknown>>;
}

const USAGE_HOOK = join(import.meta.dirname, 'report-usage.js');

/** Runs a compiled script of this project with Node. Throws if its exit status is not 0. */
export function runNode(
  script: string,
  args: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv; readonly flags?: readonly string[]; readonly cwd?: string } = {},
): Promise<ChildResult> {
  return run(process.execPath, [...(options.flags ?? []), '--import', USAGE_HOOK, script, ...args], options);
}

/** Runs a program that writes its resource usage to the file named by `BENCH_USAGE_FILE`. */
export async function run(
  program: string,
  args: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv; readonly cwd?: string } = {},
): Promise<ChildResult> {
  const usageFile = join(tmpdir(), `bench-usage-${randomUUID()}.json`);
  const startedAt = performance.now();
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env, BENCH_USAGE_FILE: usageFile },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-4_000);
  });
  const status = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(signal === null ? (code ?? 1) : 128));
  });
  const wallSeconds = (performance.now() - startedAt) / 1000;
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with status ${status}:\n${output}${errors}`);
  const used = JSON.parse(readFileSync(usageFile, 'utf8')) as { cpuSeconds: number; peakBytes: number };
  rmSync(usageFile);
  const lastLine = output.trim().split('\n').at(-1) ?? '';
  const reported = lastLine.startsWith('{') ? (JSON.parse(lastLine) as Record<string, unknown>) : {};
  return { wallSeconds, ...used, status, reported };
}
