// Options of commands that edit entries: a field and its text, or a field and a table of texts; and what to add after a refusal.
import { readFile } from 'node:fs/promises';
import { InvalidArgumentError } from 'commander';
import type { z } from 'zod';
import { OperationRefused, type SingleOperation } from '../../operations/operation.ts';
import { reword } from '../../plan/message.ts';
import type { Fields } from '../../posting/posting.ts';
import { readValueTable } from '../../review/value-table.ts';
import { UserError } from '../../runtime/exit-status.ts';
import type { BulkEdit } from '../../store/review/bulk-actions.ts';

/** Options of what edits. */
export const ANYWAY = [
  '--anyway',
  'edit even if postings would still be rejected; otherwise nothing is done then',
] as const;
export const ALL_FEEDS = [
  '--all-feeds',
  'of all feeds; otherwise nothing is done if the entries are of several',
] as const;

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

/** An operation that says in its refusal which option would allow it. */
export const hinting = <Input extends z.ZodType, Output extends z.ZodType>(
  operation: SingleOperation<Input, Output>,
): SingleOperation<Input, Output> => ({
  ...operation,
  run: (input, asked) => operation.run(input, asked).catch(hinted),
});

export function hinted(error: unknown): never {
  if (!(error instanceof OperationRefused)) throw error;
  const { kind, reason, now, subject } = error;
  const hint =
    now.may_insist === true
      ? 'To edit nevertheless, add --anyway.'
      : now.feeds === undefined
        ? undefined
        : 'To edit those of one feed, add its name; those of all feeds, add --all-feeds.';
  if (hint === undefined) throw error;
  throw new OperationRefused(
    kind,
    reword(reason, (text) => `${text}\n${hint}`),
    now,
    subject === undefined ? {} : { subject },
  );
}
