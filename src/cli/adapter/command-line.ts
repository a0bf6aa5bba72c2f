// Writes commands that can be pasted into a shell: called the way this one was, with its configuration.
import { join, relative, resolve } from 'node:path';
import { packageRoot } from '../../config/package-root.ts';

/** Completes the words after the program's name to a command that can be run as it is. */
export type WriteCommand = (words: readonly string[]) => string;

/** Writes commands for the same configuration file. */
export function commandWriter(configFile: string | undefined): WriteCommand {
  const suffix = configFile === undefined ? [] : ['--config', configFile];
  return (words) => `${ownCommand()} ${[...words, ...suffix].map(quoteWord).join(' ')}`;
}

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

/** A word as a shell reads it. */
export const quoteWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
