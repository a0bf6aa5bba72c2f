// `jobmirror completion`: prints the script that makes a shell complete the command line.
import { Argument, Command, type Option } from 'commander';
import { CONFIG_FILE, readNames } from '../../config/include.ts';
import { printData } from '../../telemetry/print.ts';
import { COMPLETION_COMMAND, completionScript, FILES, SHELLS, type Shell } from '../completion-scripts.ts';

export function completionCommand(): Command {
  return new Command('completion')
    .addArgument(new Argument('<shell>', 'the shell to complete in').choices(SHELLS))
    .action((shell: Shell) => printData(completionScript(shell)))
    .addHelpText(
      'after',
      `
Load it whenever the shell starts:
  bash  echo 'source <(jobmirror completion bash)' >> ~/.bashrc
  zsh   echo 'source <(jobmirror completion zsh)' >> ~/.zshrc     after the line with compinit
  fish  jobmirror completion fish > ~/.config/fish/completions/jobmirror.fish`,
    );
}

// The hidden command `complete`, which the scripts of `jobmirror completion` call: prints a candidate per line with its
// description after a tab. Reads the names of feeds and sites from the configuration file, and asks no database.

/** Shells cut descriptions off at the width of the terminal; this is about one line. */
const DESCRIPTION_CHARS = 100;

/** @param build the program with the command that the words name */
export function completeCommand(build: (words: readonly string[]) => Promise<Command>): Command {
  return new Command(COMPLETION_COMMAND).argument('[words...]').action(async (given: readonly string[]) => {
    const words = withoutEqualSigns(given);
    const last = words.at(-1) ?? '';
    const called = words.slice(0, -1);
    const expected = expectedAfter(await build(called), called, last);
    if (expected.kind === 'file') return printData(FILES);
    for (const { value, description } of await candidatesOf(expected)) {
      if (!value.startsWith(last) || (expected.kind === 'names' && called.includes(value))) continue;
      const text = description?.split('\n', 1)[0]?.slice(0, DESCRIPTION_CHARS) ?? '';
      await printData(text === '' ? value : `${value}\t${text}`);
    }
  });
}

/** Bash makes a word of each equal sign: `--kind = held`. */
function withoutEqualSigns(words: readonly string[]): readonly string[] {
  return words.flatMap((word, at) => (word !== '=' ? [word] : at === words.length - 1 ? [''] : []));
}

async function candidatesOf(expected: Exclude<Expected, { kind: 'file' }>): Promise<readonly Candidate[]> {
  switch (expected.kind) {
    case 'candidates':
      return expected.candidates;
    case 'names':
      return namesOf(expected.config ?? CONFIG_FILE, expected.of);
    default:
      return expected satisfies never;
  }
}

async function namesOf(config: string, of: NameGroup): Promise<readonly Candidate[]> {
  const groups = of === 'feeds and sites' ? (['feeds', 'sites'] as const) : [of];
  const names = new Set<string>();
  for (const group of groups) for (const name of await readNames(config, group)) names.add(name);
  return [...names].map((value) => ({ value }));
}

// Finds what can be written at the end of an unfinished command line, from the program's commands and options.

interface Candidate {
  readonly value: string;
  readonly description?: string;
}

/** What is expected; the shell completes files itself. */
export type Expected =
  | { readonly kind: 'candidates'; readonly candidates: readonly Candidate[] }
  | { readonly kind: 'names'; readonly of: NameGroup; readonly config: string | undefined }
  | { readonly kind: 'file' };

type NameGroup = 'feeds' | 'sites' | 'feeds and sites';

const NOTHING: Expected = { kind: 'candidates', candidates: [] };

/** Arguments that are names of the configuration. */
const NAMED: Readonly<Record<string, NameGroup>> = {
  feed: 'feeds',
  'id or feed': 'feeds',
  new: 'feeds',
  site: 'sites',
  name: 'feeds and sites',
};

/**
 * What can be written after `words`.
 *
 * @param program has the command that the words name
 * @param words the finished words after the program's name
 * @param last the start of the word that is being written
 */
export function expectedAfter(program: Command, words: readonly string[], last: string): Expected {
  const line = readLine(program, words);
  if (line.open !== undefined) return expectedValue(line.open, line.config);
  const [flag = '', start] = /^(--[^=]+)=/.exec(last) ?? [];
  const assigned = start === undefined ? undefined : findOption(line.command, start);
  if (assigned !== undefined) return prefixed(expectedValue(assigned, line.config), flag);
  if (last.startsWith('-') && !line.literal) return { kind: 'candidates', candidates: optionsOf(line) };
  const subcommands = line.command.createHelp().visibleCommands(line.command);
  if (subcommands.length > 0) return { kind: 'candidates', candidates: subcommands.map(subcommand) };
  const { registeredArguments } = line.command;
  const next = registeredArguments[line.operands] ?? registeredArguments.at(-1);
  if (next === undefined || (line.operands >= registeredArguments.length && !next.variadic)) return NOTHING;
  return expectedValue(next, line.config);
}

interface Line {
  readonly command: Command;
  readonly given: ReadonlySet<Option>;
  /** How many arguments the command has so far. */
  readonly operands: number;
  /** The option whose value comes next. */
  readonly open?: Option;
  /** After `--`, nothing is an option. */
  readonly literal: boolean;
  /** The configuration file that the words name. */
  readonly config?: string;
}

function readLine(program: Command, words: readonly string[]): Line {
  let line: Line = { command: program, given: new Set(), operands: 0, literal: false };
  for (const word of words) line = readWord(line, word);
  return line;
}

function readWord(line: Line, word: string): Line {
  if (line.open !== undefined) {
    const config = line.open.long === '--config' ? word : line.config;
    return { ...line, open: undefined, config };
  }
  if (word === '--') return { ...line, literal: true };
  if (word.startsWith('-') && !line.literal) {
    const [name = '', value] = word.split(/=(.*)/s);
    const option = findOption(line.command, name);
    if (option === undefined) return line;
    const given = new Set([...line.given, option]);
    if (value === undefined) return { ...line, given, open: option.required ? option : undefined };
    return { ...line, given, config: option.long === '--config' ? value : line.config };
  }
  const command = line.command.commands.find((each) => each.name() === word);
  if (command !== undefined) return { ...line, command, operands: 0 };
  return { ...line, operands: line.operands + 1 };
}

const optionsIn = (command: Command): readonly Option[] => command.createHelp().visibleOptions(command);

const findOption = (command: Command, name: string): Option | undefined =>
  optionsIn(command).find(({ long, short }) => long === name || short === name);

const optionsOf = ({ command, given }: Line): readonly Candidate[] =>
  optionsIn(command).flatMap((option) =>
    option.long === undefined || (given.has(option) && !option.variadic)
      ? []
      : [{ value: option.long, description: option.description }],
  );

const subcommand = (command: Command): Candidate => ({ value: command.name(), description: command.description() });

function expectedValue(of: Option | Argument, config: string | undefined): Expected {
  const { argChoices } = of;
  if (argChoices !== undefined) return { kind: 'candidates', candidates: argChoices.map((value) => ({ value })) };
  const name = 'flags' in of ? (/[<[]([^>\]]+?)(?:\.\.\.)?[>\]]/.exec(of.flags)?.[1] ?? '') : of.name();
  if (name === 'file') return { kind: 'file' };
  // The name of an option's value is that of a person or a token.
  const names = name === 'name' && 'flags' in of ? undefined : NAMED[name];
  return names === undefined ? NOTHING : { kind: 'names', of: names, config };
}

function prefixed(expected: Expected, flag: string): Expected {
  if (expected.kind !== 'candidates') return expected;
  return { kind: 'candidates', candidates: expected.candidates.map(({ value }) => ({ value: flag + value })) };
}
