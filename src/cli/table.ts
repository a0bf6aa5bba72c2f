// Turns rows of cells into aligned lines of text.

export interface Column {
  readonly title: string;
  /** Numbers stand at the right. */
  readonly align?: 'left' | 'right';
}

/** One line for the titles and one a row, columns two spaces apart, nothing behind the last cell. */
export function formatTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const lines = [columns.map((column) => column.title), ...rows];
  const widths = columns.map((_, at) => Math.max(...lines.map((cells) => widthOf(cells[at] ?? ''))));
  return lines.map((cells) =>
    columns
      .map(({ align }, at) => {
        const cell = cells[at] ?? '';
        const space = ' '.repeat((widths[at] ?? 0) - widthOf(cell));
        return align === 'right' ? space + cell : cell + space;
      })
      .join('  ')
      .trimEnd(),
  );
}

// Characters, not code units. That some are drawn wider is left to the terminal.
const widthOf = (text: string): number => [...text].length;
