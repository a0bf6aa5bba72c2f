// Runs the command line, and turns errors into a clear message and an exit status.
import { CommanderError } from 'commander';
import { ConfigError } from '../config/config-error.ts';
import { EmbeddedPostgresError } from '../embedded-postgres/embedded-error.ts';
import { ExitStatus, UserError } from '../runtime/exit-status.ts';
import { describePassing } from '../store/postgres/transient-error.ts';
import { OutputFailedError, printNotice, watchOutput } from '../telemetry/print.ts';
import { buildProgram } from './build-program.ts';

/** Runs the command of the process's arguments; its exit status is in `process.exitCode` afterwards. Never throws. */
export async function runProgram(): Promise<void> {
  watchOutput();
  try {
    await (await buildProgram(process.argv.slice(2))).parseAsync();
  } catch (error) {
    process.exitCode = explain(error);
  }
}

function explain(error: unknown): number {
  // Commander has already printed its message; help and version exit with status 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? ExitStatus.done : ExitStatus.failed;
  // A reader that stops early, such as `| head`, is not an error.
  if (error instanceof OutputFailedError && error.code === 'EPIPE') return ExitStatus.done;
  const plain = [UserError, ConfigError, EmbeddedPostgresError, OutputFailedError].some(
    (kind) => error instanceof kind,
  );
  const passing = plain || !(error instanceof Error) ? undefined : describePassing(error);
  const text = error instanceof Error ? (plain ? error.message : (error.stack ?? error.message)) : String(error);
  printNotice(`jobmirror: ${passing === undefined ? text : `${passing}; nothing is lost: try again later`}`);
  return ExitStatus.failed;
}
