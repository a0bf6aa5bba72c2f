// One run of the program in a process of its own. Checks the process limits first, because loading the rest would fail without a clear message.
import { readFileSync } from 'node:fs';
import { getHeapStatistics } from 'node:v8';
import { tracingRequest } from '../telemetry/spans.ts';

/** A finished command that is still alive after this time does not end by itself. */
const IDLE_WITHIN_MS = 10_000;

/** Runs the command of the process's arguments; its exit status is in `process.exitCode` afterwards. Never throws. */
export async function runProcess(): Promise<void> {
  // Database and secret files must not be writable by others, whatever the caller's umask.
  process.umask(process.umask() | 0o022);
  const lacking = explainLowLimits();
  if (lacking !== undefined) return fail(lacking);
  try {
    const endTracing = await traceIfRequested();
    const { runProgram } = await import('./program.ts');
    await runProgram();
    await endTracing();
    endUnlessIdle();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    fail(code === 'EMFILE' || code === 'ENFILE' ? `too many files are open (${message}); raise ulimit -n` : error);
  }
}

/** Returns what has to be done at the end. The libraries for traces are loaded only if they are asked for, and before what they trace. */
async function traceIfRequested(): Promise<() => Promise<void>> {
  const request = tracingRequest(process.env);
  if (request.kind === 'unusable') process.stderr.write(`jobmirror: no traces are exported: ${request.message}\n`);
  if (request.kind !== 'on') return async () => {};
  const { startTracing } = await import('../telemetry/start-tracing.ts');
  const { driverModules } = await import('../store/postgres/database.ts');
  return startTracing(driverModules);
}

function fail(problem: unknown): void {
  process.stderr.write(`jobmirror: ${problem instanceof Error ? (problem.stack ?? problem.message) : problem}\n`);
  process.exitCode = 1;
}

/**
 * Whoever schedules a command waits for its end: once its work is done and its output is read, nothing that was left open
 * keeps it alive.
 */
function endUnlessIdle(): void {
  setTimeout(() => {
    if (process.stdout.writableLength > 0 || process.stderr.writableLength > 0) return endUnlessIdle();
    const open = [...new Set(process.getActiveResourcesInfo())].join(', ');
    process.stderr.write(`jobmirror: the work is done, but something was left open (${open}); ending the process\n`);
    process.exit();
  }, IDLE_WITHIN_MS).unref();
}

// Finds process limits that are too low to run with.

/** Loading opens some 60 files at a time; each connection, file and worker thread adds one. */
const MIN_OPEN_FILES = 256;
/** With less, a pull of a large feed spends its time on garbage collection. */
const MIN_HEAP_MIB = 96;

/** A message about the first limit to raise; `undefined` if all are high enough. */
export function explainLowLimits(
  files: number | undefined = openFilesLimit(),
  heapMiB: number = Math.floor(getHeapStatistics().heap_size_limit / 2 ** 20),
): string | undefined {
  if (files !== undefined && files < MIN_OPEN_FILES) {
    return `only ${files} files may be open at a time, and ${MIN_OPEN_FILES} are needed; raise the limit: ulimit -n ${MIN_OPEN_FILES}`;
  }
  if (heapMiB < MIN_HEAP_MIB) {
    return `the heap is limited to ${heapMiB} MiB, and ${MIN_HEAP_MIB} are needed; raise the limit: node --max-old-space-size=${2 * MIN_HEAP_MIB}, or NODE_OPTIONS`;
  }
  return undefined;
}

/** `undefined` if the system has no /proc; reaching the limit is then reported when it happens. */
function openFilesLimit(): number | undefined {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}
