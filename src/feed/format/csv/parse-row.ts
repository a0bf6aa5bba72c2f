// Parses the text of one row of a table into its cells, exactly as `RowScanner` delimits it.
import type { Delimiter } from '../format.ts';

export type ParsedRow =
  /** `repairs`: quotes inside quotes that were taken for text. */
  | { readonly kind: 'cells'; readonly cells: string[]; readonly repairs: number; readonly hasBareQuote: boolean }
  /** @see RowEnd `at`: characters from the start of the row. */
  | { readonly kind: 'fault'; readonly at: number; readonly message: string };

/** @param text without the line end. @param lenient take a quote that does not end its cell for text. */
export function parseRow(text: string, delimiter: Delimiter, lenient = false): ParsedRow {
  const cells: string[] = [];
  let repairs = 0;
  let hasBareQuote = false;
  for (let at = 0; ; at++) {
    if (text[at] !== '"') {
      const end = endOfPlain(text, at, delimiter);
      const cell = text.slice(at, end);
      hasBareQuote ||= cell.includes('"');
      cells.push(cell);
      at = end;
    } else {
      const quoted = parseQuoted(text, at, delimiter, lenient);
      if (quoted.kind === 'fault') return quoted;
      cells.push(quoted.text);
      repairs += quoted.repairs;
      at = quoted.end;
    }
    if (at === text.length) return { kind: 'cells', cells, repairs, hasBareQuote };
  }
}

function endOfPlain(text: string, at: number, delimiter: Delimiter): number {
  const end = text.indexOf(delimiter, at);
  return end < 0 ? text.length : end;
}

type Quoted =
  | { readonly kind: 'quoted'; readonly text: string; readonly end: number; readonly repairs: number }
  | Extract<ParsedRow, { kind: 'fault' }>;

/** @param start the opening quote. */
function parseQuoted(row: string, start: number, delimiter: Delimiter, lenient: boolean): Quoted {
  let text = '';
  let repairs = 0;
  let from = start + 1;
  for (;;) {
    const quote = row.indexOf('"', from);
    if (quote < 0) return { kind: 'fault', at: start, message: 'a cell in quotes does not end' };
    const next = row[quote + 1];
    if (next === undefined || next === delimiter) {
      return { kind: 'quoted', text: text + row.slice(from, quote), end: quote + 1, repairs };
    }
    text += row.slice(from, quote + 1);
    from = quote + 1;
    if (next === '"') from++;
    else if (lenient) repairs++;
    else return { kind: 'fault', at: quote, message: 'a quote inside quotes is not doubled' };
  }
}
