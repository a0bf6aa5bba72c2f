// Reads a table of values to be replaced: two columns of CSV, the value that an entry has and its new value.
import { CsvError, parse } from 'csv-parse/sync';
import type { Fields } from '../posting/posting.ts';

export type ValueTable =
  | { readonly kind: 'table'; readonly values: Fields }
  | { readonly kind: 'unusable'; readonly message: string };

/** With `info`, the parser returns where each record ends. */
interface Line {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

/** A first line `old,new` is a heading. An empty new value removes the field. */
export function readValueTable(text: string): ValueTable {
  let lines: Line[];
  try {
    lines = parse(text, {
      bom: true,
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
    }) as unknown as Line[];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return unusable(error.message);
  }
  const values = new Map<string, string>();
  for (const [at, { record, info }] of lines.entries()) {
    const [old = '', to = ''] = record;
    if (record.length !== 2)
      return unusable(`line ${info.lines} has ${record.length} columns, not 2: the old and the new value`);
    if (at === 0 && old.toLowerCase() === 'old' && to.toLowerCase() === 'new') continue;
    const before = values.get(old);
    if (before !== undefined && before !== to) {
      return unusable(`line ${info.lines} replaces "${old}" with "${to}", and an earlier line with "${before}"`);
    }
    values.set(old, to);
  }
  if (values.size === 0) return unusable('it has no line with an old and a new value');
  return { kind: 'table', values: Object.fromEntries(values) };
}

const unusable = (message: string): ValueTable => ({ kind: 'unusable', message });
