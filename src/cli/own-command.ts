// Finds out how this program was called, so that commands it prints can be copied and run as they are.
import { basename, relative } from 'node:path';

/** What stands before the arguments of a command that is to be run from the same folder. */
export function ownCommand(): string {
  const { npm_lifecycle_event: script, npm_package_name: name, npm_package_json: manifest } = process.env;
  const inRepository = name === 'jobmirror' && manifest === `${process.cwd()}/package.json`;
  if (script !== undefined && inRepository) return 'npm run --silent jobmirror --';
  const program = process.argv[1] ?? '';
  return basename(program) === 'jobmirror' ? 'jobmirror' : `node ${quoted(pathFromHere(program))}`;
}

/** A path as a shell takes it: relative to the current folder, quoted where it has to be. */
export const quoted = (text: string): string =>
  /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** The shorter form of an absolute path. */
export function pathFromHere(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}
