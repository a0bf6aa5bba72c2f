// Turns rows of cells into aligned lines of text that fit the terminal.
import stringWidth from 'string-width';
import { terminalText } from '../telemetry/terminal-text.ts';

export interface Column {
  readonly title: string;
  /** Numbers stand at the right. */
  readonly align?: 'left' | 'right';
}

const GAP = '  ';
/** A column is not cut below this many cells of the terminal. */
const MIN_WIDTH = 8;

/**
 * One line for the titles and one a row, columns two spaces apart, nothing behind the last cell.
 * @param width cells that a line may take, by default those of the terminal; the widest columns are cut to fit.
 */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number = terminalWidth(),
): string[] {
  const lines = [columns.map((column) => column.title), ...rows.map((cells) => cells.map(terminalText))];
  const natural = columns.map((_, at) => Math.max(...lines.map((cells) => stringWidth(cells[at] ?? ''))));
  const widths = fitted(natural, width - GAP.length * (columns.length - 1));
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

/** In a pipe or a file nothing is cut. */
const terminalWidth = (): number =>
  process.stdout.isTTY ? (process.stdout.columns ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;

/** Takes from the widest column until all fit, or none can give any more. */
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

function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = '';
  for (const { segment } of segmenter.segment(text)) {
    if (stringWidth(kept + segment) > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}
