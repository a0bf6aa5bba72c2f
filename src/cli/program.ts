// Runs the command line, of which only the command that the arguments name is loaded, and turns errors into a clear message and an exit status.
import { Command, CommanderError, Help } from 'commander';
import { ConfigError } from '../config/config-error.ts';
import { programVersion } from '../config/package-root.ts';
import { EmbeddedPostgresError } from '../embedded-postgres/binaries.ts';
import { ExitStatus, UserError } from '../runtime/stop-signal.ts';
import { describePassing } from '../store/postgres/transient-error.ts';
import { OutputFailedError, printNotice, watchOutput } from '../telemetry/print.ts';
import { COMMANDS } from './command-list.ts';
import { COMPLETION_COMMAND } from './completion-scripts.ts';

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

/** The program with the command that `args` name, without the words before it. */
export async function buildProgram(args: readonly string[]): Promise<Command> {
  const program = new Command('jobmirror')
    .description('mirrors external job feeds into a job site')
    .version(programVersion())
    .showHelpAfterError('(see --help)')
    .exitOverride();
  const terms = new Map(COMMANDS.map(({ name, term }) => [name, term]));
  program.configureHelp({ subcommandTerm: (command) => terms.get(command.name()) ?? helpTerm(command) });
  const [first, second] = args.filter((arg) => !arg.startsWith('-'));
  const called = first === 'help' ? second : first;
  for (const { name, description, load } of COMMANDS) {
    const command = name === called ? await load() : new Command(name);
    program.addCommand(command.description(description).exitOverride().showHelpAfterError('(see --help)'));
  }
  if (called === COMPLETION_COMMAND) {
    const { completeCommand } = await import('./commands/completion.ts');
    program.addCommand(completeCommand(buildProgram).exitOverride(), { hidden: true });
  }
  return program;
}

const helpTerm = (command: Command): string => new Help().subcommandTerm(command);
