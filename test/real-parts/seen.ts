// Collects what the runs of a matrix have seen, and writes its section of docs/real-parts.md.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/package-root.ts';

const PAGE = join(packageRoot, 'docs/real-parts.md');
const INTRODUCTION = `# Behind real servers

What jobmirror does behind servers and programs of Debian 12 and npm, each with each fault. Mono stands for .NET, and Django's feedgenerator for
feedgen, which neither has. No cell breaks a law: the runs fail otherwise. Generated from the runs (\`npm run real-parts\`), with the day of each.
`;

export interface Matrix {
  readonly title: string;
  readonly law: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  readonly cells: ReadonlyMap<string, string>;
  /** What is run as a whole; by default a column. */
  readonly unit?: 'row' | 'column';
}

export const cellKey = (row: string, column: string): string => `${row}\n${column}`;

/** Writes the columns, or the rows, whose cells are all known; others are left as a former run wrote them. */
export function writeSection({ title, law, versions, rows, columns, cells, unit = 'column' }: Matrix): void {
  const before = existsSync(PAGE)
    ? readFileSync(PAGE, 'utf8')
        .split(/^(?=## )/m)
        .slice(1)
    : [];
  const former = readCells(before.find((each) => each.startsWith(`## ${title}\n`)) ?? '');
  const isKnown = (row: string, column: string) =>
    unit === 'column'
      ? rows.every((each) => cells.has(cellKey(each, column)))
      : columns.every((each) => cells.has(cellKey(row, each)));
  const cellOf = (row: string, column: string) => (isKnown(row, column) ? cells : former).get(cellKey(row, column));
  const shown = columns.filter((column) => rows.some((row) => cellOf(row, column) !== undefined));
  if (shown.length === 0) return;
  const line = (texts: readonly string[]) => `| ${texts.join(' | ')} |`;
  const section = [
    `## ${title}\n`,
    `${law} Run on ${new Date().toISOString().slice(0, 10)} with ${Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}.\n`,
    line(['', ...shown]),
    line(['', ...shown].map(() => '---')),
    ...rows
      .filter((row) => shown.some((column) => cellOf(row, column) !== undefined))
      .map((row) => line([row, ...shown.map((column) => cellOf(row, column) ?? '')])),
  ].join('\n');
  const others = before.filter((each) => !each.startsWith(`## ${title}\n`)).map((each) => each.trimEnd());
  writeFileSync(PAGE, `${[INTRODUCTION.trimEnd(), ...[...others, section].sort()].join('\n\n')}\n`);
}

/** The cells of a section that has been written. */
function readCells(section: string): ReadonlyMap<string, string> {
  const [names = [], , ...lines] = section
    .split('\n')
    .filter((each) => each.startsWith('|'))
    .map((each) => each.slice(2, -2).split(' | '));
  return new Map(
    lines.flatMap(([row = '', ...texts]) =>
      texts.map((text, at) => [cellKey(row, names[at + 1] ?? ''), text] as const),
    ),
  );
}
