// Writes lines of CSV files for spreadsheets and programs. Not csv-stringify, because its guard against formulas changes values
// that begin with an apostrophe.

/** One line without its end. */
export const csvLine = (cells: readonly string[]): string => cells.map((cell) => csvCell(guardFormula(cell))).join(',');

/**
 * A cell that a spreadsheet would treat as a formula gets a leading apostrophe, and so does one that already has
 * apostrophes before such text: reading removes exactly one.
 */
const guardFormula = (text: string): string => (/^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text);

/** The value of a cell as it was before it was written. */
export const unescapeFormula = (text: string): string => (/^'+[=+\-@\t\r]/.test(text) ? text.slice(1) : text);

/** RFC 4180, section 2. */
const csvCell = (text: string): string => (/[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
