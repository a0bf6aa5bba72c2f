// The command line: composes the commands, and turns what they throw into a clear line and an exit status.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { ConfigError } from '../config/config-error.ts';
import { packageRoot } from '../config/package-root.ts';
import { EmbeddedPostgresError } from '../embedded-postgres/embedded-error.ts';
import { ExitStatus, UserError } from '../runtime/exit-status.ts';
import { describePassing } from '../store/postgres/transient-error.ts';
import { OutputFailedError, watchOutput } from '../telemetry/output-failure.ts';
import { printNotice } from '../telemetry/print.ts';
import { checkCommand } from './commands/check.ts';
import { demoCommand } from './commands/demo.ts';
import { feedsCommand } from './commands/feeds.ts';
import { mappingsCommand } from './commands/mappings.ts';
import { planCommand } from './commands/plan.ts';
import { pullsCommand } from './commands/pulls.ts';
import { resumeCommand } from './commands/resume.ts';
import { reviewCommand } from './commands/review.ts';
import { sandboxCommand } from './commands/sandbox.ts';
import { startCommand } from './commands/start.ts';
import { statusCommand } from './commands/status.ts';
import { syncCommand } from './commands/sync.ts';
import { whyCommand } from './commands/why.ts';
import { workCommand } from './commands/work.ts';

const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string };

const program = new Command('jobmirror')
  .description('mirrors external job feeds into a job site')
  .version(version)
  .showHelpAfterError('(see --help)')
  .exitOverride();

const commands = [
  demoCommand(),
  checkCommand(),
  planCommand(),
  syncCommand(),
  startCommand(),
  workCommand(),
  statusCommand(),
  pullsCommand(),
  reviewCommand(),
  whyCommand(),
  resumeCommand(),
  mappingsCommand(),
  feedsCommand(),
  sandboxCommand(),
];

for (const command of commands) {
  program.addCommand(command.exitOverride().showHelpAfterError('(see --help)'));
}

/** Runs the command of the process's arguments; its exit status is in `process.exitCode` afterwards. Never throws. */
export async function runProgram(): Promise<void> {
  watchOutput();
  try {
    await program.parseAsync();
  } catch (error) {
    process.exitCode = explain(error);
  }
}

function explain(error: unknown): number {
  // Commander has printed its own message already; help and version end well.
  if (error instanceof CommanderError) return error.exitCode === 0 ? ExitStatus.done : ExitStatus.failed;
  // A reader that stops reading, such as `| head`, is no error.
  if (error instanceof OutputFailedError && error.code === 'EPIPE') return ExitStatus.done;
  const plain = [UserError, ConfigError, EmbeddedPostgresError, OutputFailedError].some(
    (kind) => error instanceof kind,
  );
  const passing = plain || !(error instanceof Error) ? undefined : describePassing(error);
  const text = error instanceof Error ? (plain ? error.message : (error.stack ?? error.message)) : String(error);
  printNotice(`jobmirror: ${passing === undefined ? text : `${passing}; nothing is lost: try again later`}`);
  return ExitStatus.failed;
}
