// Where the bundled program begins. Checks the process limits first, because loading the rest would fail without a clear message.
import { tracingRequest } from '../telemetry/spans.ts';
import { whatIsLacking } from './process-limits.ts';

// Database and secret files must not be writable by others, whatever the caller's umask.
process.umask(process.umask() | 0o022);

/** A finished command that is still alive after this time does not end by itself. */
const IDLE_WITHIN_MS = 10_000;

/** Node.js's exit status when the event loop runs empty while a top-level await is pending. */
const UNFINISHED = 13;
process.on('exit', (status) => {
  if (status === UNFINISHED) process.stderr.write('jobmirror: the process ended before its work was done\n');
});

const lacking = whatIsLacking();
if (lacking === undefined) {
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
} else {
  fail(lacking);
}

/** Returns what has to be done at the end. The libraries for traces are loaded only if they are asked for, and before what they trace. */
async function traceIfRequested(): Promise<() => Promise<void>> {
  const request = tracingRequest(process.env);
  if (request.kind === 'unusable') process.stderr.write(`jobmirror: no traces are exported: ${request.message}\n`);
  if (request.kind !== 'on') return async () => {};
  const { startTracing } = await import('../telemetry/start-tracing.ts');
  return startTracing();
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
