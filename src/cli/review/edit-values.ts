// Options of commands that edit entries: a field and its text, or a field and a table of texts.
import { readFile } from 'node:fs/promises';
import { InvalidArgumentError } from 'commander';
import type { Fields } from '../../posting/posting.ts';
import { readValueTable } from '../../review/value-table.ts';
import { UserError } from '../../runtime/exit-status.ts';
import type { BulkEdit } from '../../store/review/bulk-actions.ts';

export interface EditValues {
  readonly set?: ReadonlyMap<string, string>;
  readonly setMap?: TableOption;
}

interface TableOption {
  readonly field: string;
  readonly file: string;
}

/** `undefined`: neither option is given. */
export async function editOf({ set, setMap }: EditValues): Promise<BulkEdit | undefined> {
  if (set === undefined && setMap === undefined) return undefined;
  const map = setMap === undefined ? {} : { map: { field: setMap.field, values: await valuesOf(setMap) } };
  return { ...(set === undefined ? {} : { set: Object.fromEntries(set) }), ...map };
}

export function tableOption(text: string): TableOption {
  const at = text.indexOf('=');
  if (at < 1 || at === text.length - 1) throw new InvalidArgumentError('It must be FIELD=FILE.');
  return { field: text.slice(0, at).trim(), file: text.slice(at + 1) };
}

async function valuesOf({ file }: TableOption): Promise<Fields> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new UserError(`the table ${file} can't be read: ${(error as Error).message}`);
  }
  const table = readValueTable(text);
  if (table.kind === 'unusable') throw new UserError(`the table ${file} can't be used: ${table.message}`);
  return table.values;
}

export function addField(text: string, before: ReadonlyMap<string, string> | undefined): ReadonlyMap<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must be FIELD=VALUE.');
  const name = text.slice(0, at).trim();
  if (before?.has(name)) throw new InvalidArgumentError(`${name} is set twice.`);
  return new Map(before).set(name, text.slice(at + 1));
}
