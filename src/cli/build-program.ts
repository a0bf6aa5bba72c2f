// Assembles the command line: the command that the arguments name is loaded, the others are known by name.
import { Command, Help } from 'commander';
import { COMMANDS } from './command-list.ts';
import { COMPLETE } from './completion/scripts.ts';
import { programVersion } from './program-version.ts';

/** The program with the command that `args` name, without the words before it. */
export async function buildProgram(args: readonly string[]): Promise<Command> {
  const program = new Command('jobmirror')
    .description('mirrors external job feeds into a job site')
    .version(programVersion)
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
  if (called === COMPLETE) {
    const { completeCommand } = await import('./completion/complete-command.ts');
    program.addCommand(completeCommand(buildProgram).exitOverride(), { hidden: true });
  }
  return program;
}

const helpTerm = (command: Command): string => new Help().subcommandTerm(command);
