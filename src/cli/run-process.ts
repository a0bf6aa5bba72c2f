// One run of the program in a process of its own. Checks the process limits first, because loading the rest would fail without a clear message.
import { tracingRequest } from '../telemetry/spans.ts';
import { whatIsLacking } from './process-limits.ts';

/** A finished command that is still alive after this time does not end by itself. */
const IDLE_WITHIN_MS = 10_000;

/** Runs the command of the process's arguments; its exit status is in `process.exitCode` afterwards. Never throws. */
export async function runProcess(): Promise<void> {
  // Database and secret files must not be writable by others, whatever the caller's umask.
  process.umask(process.umask() | 0o022);
  const lacking = whatIsLacking();
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
