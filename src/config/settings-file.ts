// Reads YAML files that ship with the package into checked settings, and files as text.
import { readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { ConfigError } from './config-error.ts';
import { validate } from './validate.ts';
import { parseYaml, toData } from './yaml-source.ts';

/** Reads a settings file without environment variables. Throws a {@link ConfigError} if it is invalid. */
export async function readSettings<Schema extends z.ZodType>(path: string, schema: Schema): Promise<z.output<Schema>> {
  return checkedSettings(path, await readText(path), schema);
}

/** The settings of a file's text. Throws a {@link ConfigError} if it is invalid. */
export function checkedSettings<Schema extends z.ZodType>(
  path: string,
  text: string,
  schema: Schema,
): z.output<Schema> {
  const source = parseYaml(path, text);
  const checked = validate(schema, toData(source), source);
  if (checked.kind === 'refused') throw new ConfigError(checked.complaints);
  return checked.settings;
}

/** More than any configuration written by a person. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Reads a file as text. Throws a {@link ConfigError} that says why it can't be read. */
export async function readText(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new ConfigError([{ file: path, setting: '', message: `can't be read: ${fileErrorInWords(cause)}` }]);
  });
  if (text.length <= MAX_BYTES) return text;
  throw new ConfigError([{ file: path, setting: '', message: 'is larger than 4 MiB, the limit for settings files' }]);
}

/** A file system error in words. */
export function fileErrorInWords(error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case 'ENOENT':
      return 'there is no such file';
    case 'EACCES':
    case 'EPERM':
      return 'this user may not read it; change its owner or mode';
    case 'EISDIR':
      return 'it is a folder';
    default:
      return error.message;
  }
}
