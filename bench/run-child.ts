// Runs one contestant as a process of its own: turns a script and its arguments into what it said and what it used.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a process used, from its start to its end. */
export interface Usage {
  readonly wallSeconds: number;
  /** User and system time of all its threads. */
  readonly cpuSeconds: number;
  readonly peakBytes: number;
}

export interface ChildResult extends Usage {
  readonly status: number;
  /** The last line of standard output that is a JSON object; an empty object if there is none. */
  readonly said: Readonly<Record<string, unknown>>;
}

const USAGE_HOOK = join(import.meta.dirname, 'report-usage.js');

/** Runs a compiled script of this project with Node. A status other than `expected` throws. */
export function runNode(
  script: string,
  args: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv; readonly flags?: readonly string[]; readonly cwd?: string } = {},
): Promise<ChildResult> {
  return run(process.execPath, [...(options.flags ?? []), '--import', USAGE_HOOK, script, ...args], options);
}

/** Runs any program that writes its own usage to the file that `BENCH_USAGE_FILE` names. */
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
  const said = lastLine.startsWith('{') ? (JSON.parse(lastLine) as Record<string, unknown>) : {};
  return { wallSeconds, ...used, status, said };
}
