// Reads the look-up tables that a feed's fields name as CSV files.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import type * as CsvParse from 'csv-parse/sync';
import { findContradiction, type LookUpTable } from '../../posting/steps/step.ts';
import { ConfigError } from '../config-error.ts';
import type { WrittenFields } from '../schema/format-schema.ts';
import type { WrittenSteps } from '../schema/step-schema.ts';
import { readText } from '../settings-file.ts';

/** Few configurations name a file. */
const loadParser = () => createRequire(import.meta.url)('csv-parse/sync') as typeof CsvParse;

/** The table of a step that names a file. */
export type MapFiles = ReadonlyMap<WrittenSteps, LookUpTable>;

interface MapFileFault {
  /** Relative to the fields. */
  readonly path: readonly string[];
  readonly message: string;
}

/** Reads every file that the fields name. @param folder the base of relative paths. */
export async function readMapFiles(
  fields: WrittenFields,
  folder: string,
): Promise<{ readonly files: MapFiles; readonly faults: readonly MapFileFault[] }> {
  const files = new Map<WrittenSteps, LookUpTable>();
  const faults: MapFileFault[] = [];
  for (const { path, steps } of Object.entries(fields).flatMap(([field, rule]) => stepsOf(rule, [field]))) {
    if (typeof steps.map !== 'string') continue;
    const file = resolve(folder, steps.map);
    try {
      files.set(steps, await readTable(file, steps.map_columns));
    } catch (error) {
      faults.push({ path: [...path, 'map'], message: whyNot(file, error) });
    }
  }
  return { files, faults };
}

type Rules = WrittenFields[string];

function stepsOf(
  rule: Rules,
  path: readonly string[],
): { readonly path: readonly string[]; readonly steps: WrittenSteps }[] {
  if (typeof rule === 'string' || rule === null) return [];
  if (Array.isArray(rule)) return rule.flatMap((each, at) => stepsOf(each, [...path, String(at)]));
  const inner = rule.as.flatMap((step, at) =>
    typeof step === 'string' ? [] : [{ path: [...path, 'as', String(at)], steps: step }],
  );
  return [{ path, steps: rule }, ...inner];
}

/** Without column names every row is an entry: a heading does no harm, as no posting has its text. */
async function readTable(file: string, columns: readonly [string, string] | undefined): Promise<LookUpTable> {
  const text = await readText(file);
  if (text.includes('\uFFFD')) throw new TableFault(`is not encoded as UTF-8; save it as "CSV UTF-8"`);
  const rows = loadParser().parse(text, {
    bom: true,
    delimiter: delimiterOf(text),
    relax_column_count: true,
    skip_empty_lines: true,
    trim: true,
    info: true,
  }) as unknown as readonly { readonly record: readonly string[]; readonly info: { readonly lines: number } }[];
  const [from, to, first] = columns === undefined ? [0, 1, 0] : [...positionsOf(columns, rows[0]?.record ?? []), 1];
  const table = rows.slice(first).map(({ record, info }): readonly [string, string] => {
    const [key, value] = [record[from], record[to]];
    if (key === undefined || key === '' || value === undefined) {
      throw new TableFault(
        `line ${info.lines} has no ${key === undefined || key === '' ? 'text' : 'second column'} to look up`,
      );
    }
    return [key, value];
  });
  if (table.length === 0) throw new TableFault('has no entry');
  const both = findContradiction(table);
  if (both === undefined) return table;
  throw new TableFault(`has two entries for ${both[1]} with different results`);
}

/** Spreadsheets of some languages write semicolons; what is copied from one has tabs. The first line decides. */
export function delimiterOf(text: string): string {
  const line = text.slice(0, text.search(/[\r\n]|$/));
  const count = (delimiter: string) => line.split(delimiter).length;
  return [',', ';', '\t'].reduce((best, next) => (count(next) > count(best) ? next : best));
}

function positionsOf(columns: readonly [string, string], heading: readonly string[]): readonly [number, number] {
  const positions = columns.map((name) => heading.indexOf(name));
  const missing = columns.filter((_, at) => positions[at] === -1);
  if (missing.length === 0) return positions as unknown as readonly [number, number];
  throw new TableFault(`has no column ${missing.join(', ')}; its columns: ${heading.join(', ') || 'none'}`);
}

class TableFault extends Error {}

function whyNot(file: string, error: unknown): string {
  if (error instanceof ConfigError) return `${file} ${error.complaints.map(({ message }) => message).join('; ')}`;
  if (error instanceof TableFault) return `${file} ${error.message}`;
  if (error instanceof loadParser().CsvError) return `${file} is not a CSV file that can be read: ${error.message}`;
  throw error;
}
