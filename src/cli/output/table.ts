// Formats rows of cells as aligned lines of text that fit the terminal.
// Not cli-table3: its columns do not shrink to fit.
import stringWidth from 'string-width';
import { terminalText } from '../../telemetry/print.ts';

export interface Column {
  readonly title: string;
  /** Use `right` for numbers. */
  readonly align?: 'left' | 'right';
}

export interface RowColumn<Row> extends Column {
  cell(row: Row): string;
}

const GAP = '  ';
/** No column is cut below this many terminal cells. */
const MIN_WIDTH = 8;

/**
 * One line for the titles and one per row, with columns two spaces apart and no trailing spaces.
 * @param width maximum width of a line, by default the terminal's. The widest columns are cut to fit; if that is not
 *   enough, each row becomes a block with one line per cell.
 */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number = terminalWidth(),
): string[] {
  const lines = [columns.map((column) => column.title), ...rows.map((cells) => cells.map(terminalText))];
  const natural = columns.map((_, at) => Math.max(...lines.map((cells) => stringWidth(cells[at] ?? ''))));
  const widths = fitted(natural, width - GAP.length * (columns.length - 1));
  if (lineWidth(widths) > width) return lines.slice(1).flatMap((cells, at) => block(columns, cells, width, at > 0));
  return lines.map((cells) =>
    columns
      .map(({ align }, at) => {
        const cell = cut(cells[at] ?? '', widths[at] ?? 0);
        const space = ' '.repeat((widths[at] ?? 0) - stringWidth(cell));
        return align === 'right' ? space + cell : cell + space;
      })
      .join(GAP)
      .trimEnd(),
  );
}

/** The same, of rows that are not cells yet. */
export const formatRows = <Row>(columns: readonly RowColumn<Row>[], rows: readonly Row[]): string[] =>
  formatTable(
    columns,
    rows.map((row) => columns.map(({ cell }) => cell(row))),
  );

const lineWidth = (widths: readonly number[]): number =>
  widths.reduce((sum, each) => sum + each, GAP.length * (widths.length - 1));

/** One row as lines of title and cell, after an empty line if `apart`. Long cells are wrapped. */
function block(columns: readonly Column[], cells: readonly string[], width: number, apart: boolean): string[] {
  const titleWidth = Math.max(...columns.map(({ title }) => stringWidth(title)));
  const indent = ' '.repeat(titleWidth + GAP.length);
  const lines = columns.flatMap(({ title }, at) =>
    wrapped(cells[at] ?? '', Math.max(MIN_WIDTH, width - indent.length)).map((part, line) =>
      line === 0 ? title.padEnd(indent.length) + part : indent + part,
    ),
  );
  return [...(apart ? [''] : []), ...lines.map((line) => line.trimEnd())];
}

/** Wraps a text at spaces, and overlong words anywhere. Returns at least one part, which may be empty. */
function wrapped(text: string, width: number): string[] {
  const parts: string[] = [];
  let rest = text;
  while (stringWidth(rest) > width) {
    const fits = prefix(rest, width) || firstSegment(rest);
    const space = rest.startsWith(' ', fits.length) ? fits.length : fits.lastIndexOf(' ');
    const part = space > 0 ? rest.slice(0, space) : fits;
    parts.push(part);
    rest = rest.slice(part.length).trimStart();
  }
  return [...parts, rest];
}

/** Unlimited in a pipe or file. */
const terminalWidth = (): number =>
  process.stdout.isTTY ? (process.stdout.columns ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;

/** Shrinks the widest columns until all fit, or all have the minimum width. */
function fitted(natural: readonly number[], available: number): number[] {
  const widths = [...natural];
  let excess = widths.reduce((sum, each) => sum + each, 0) - available;
  while (excess > 0) {
    const widest = Math.max(...widths);
    if (widest <= MIN_WIDTH) break;
    const at = widths.indexOf(widest);
    const second = Math.max(MIN_WIDTH, ...widths.filter((_, other) => other !== at && widths[other] !== widest));
    const taken = Math.min(excess, Math.max(1, widest - second));
    widths[at] = widest - taken;
    excess -= taken;
  }
  return widths;
}

const segmenter = new Intl.Segmenter();

const cut = (text: string, width: number): string =>
  stringWidth(text) <= width ? text : `${prefix(text, width - 1)}…`;

const firstSegment = (text: string): string => [...segmenter.segment(text)][0]?.segment ?? '';

/** The longest prefix of a text that fits the width. */
function prefix(text: string, width: number): string {
  let kept = '';
  for (const { segment } of segmenter.segment(text)) {
    if (stringWidth(kept + segment) > width) break;
    kept += segment;
  }
  return kept;
}
