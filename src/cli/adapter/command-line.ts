// Writes commands that can be pasted into a shell: called the way this one was, with its configuration. Also reads values of options,
// and who runs the command.

import { type Stats, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { packageRoot } from '../../config/package-root.ts';
import { UserError } from '../../runtime/stop-signal.ts';

/** Completes the words after the program's name to a command that can be run as it is. */
export type WriteCommand = (words: readonly string[]) => string;

/** Options that most commands have. */
export interface CommonOptions {
  readonly config?: string;
  readonly json?: boolean;
  /** Who acts. */
  readonly as?: string;
}

/** Writes commands for the same configuration file. */
export function commandWriter(configFile: string | undefined): WriteCommand {
  const suffix = configFile === undefined ? [] : ['--config', configFile];
  return (words) => {
    const end = words.includes('--') ? words.indexOf('--') : words.length;
    return `${ownCommand()} ${words
      .toSpliced(end, 0, ...suffix)
      .map(quoteWord)
      .join(' ')}`;
  };
}

/** Arguments of a command, such as keys, that may look like options. */
export const argumentWords = (...words: readonly string[]): readonly string[] =>
  words.some((word) => word.startsWith('-')) ? ['--', ...words] : words;

/** The command before the arguments: `jobmirror` where it is installed, else npx, npm or node, as it was called. */
function ownCommand(): string {
  const program = resolve(process.argv[1] ?? '');
  if (program !== join(packageRoot, 'dist/src/cli/main.js')) {
    return process.env.npm_command === 'exec' ? 'npx jobmirror' : 'jobmirror';
  }
  const byNpm = process.env.npm_lifecycle_event !== undefined && process.cwd() === packageRoot;
  return byNpm ? 'npm run --silent jobmirror --' : `node ${quoteWord(pathFromHere(program))}`;
}

/** A path, relative to the current folder if that is shorter. */
export function pathFromHere(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}

/** The file that a new one will replace, if there is one. Refuses folders and devices: root would replace /dev/null for everybody. */
export function fileToReplace(path: string): Stats | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile()) throw new UserError(`${path} is a folder or a device; name a file`);
  return found;
}

/** A word as a shell reads it. */
export const quoteWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

// Parses option values, and explains what is wrong with an invalid one.

export function positiveNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1 on.');
  return Number(text);
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

/** Whether a name is the number of a review entry, not a feed. */
export const isEntryNumber = (name: string): boolean => /^\d{1,15}$/.test(name);

export function entryNumber(text: string): number {
  if (!isEntryNumber(text)) throw new InvalidArgumentError('It must be the number of an entry, see: review list');
  return Number(text);
}

export function groupId(text: string): string {
  if (!/^g[0-9a-f]{10}$/.test(text)) throw new InvalidArgumentError('It must be the ID of a group, see: review groups');
  return text;
}

/** Options of many commands, and their help. */
export const CONFIG = ['--config <file>', 'configuration file (default: jobmirror.yaml)'] as const;
export const ACTOR = ['--as <name>', 'who acts, for the audit (default: the user of the operating system)'] as const;

/** Help of `--seen`. */
export const SEEN_HELP =
  'only if exactly that is decided about which was printed with this `seen`, and unchanged; does not ask';

/** Help of `--if-version`: nobody decides about an entry that they have not seen. */
export const IF_VERSION_HELP =
  'of one entry: only if it is still as review show printed it with this version; does not ask';

export const IF_VERSION_NEEDS_ONE_ENTRY = '--if-version is for one entry: name its number, see: review list';

// Names the person who acts, for the audit log.

/** The given name, or the operating system user's. */
export function actorName(given: string | undefined): string {
  if (given !== undefined) return given;
  try {
    return userInfo().username;
  } catch {
    // A container may run under a user ID without a name.
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
