// Writes results to standard output, at the pace of whoever reads them, and nothing in them that steers a terminal.
import { once } from 'node:events';

/** Writes one line; resolves when the next may come. */
export async function printLine(text: string): Promise<void> {
  if (!process.stdout.write(`${text}\n`)) await once(process.stdout, 'drain');
}

export async function printLines(lines: Iterable<string>): Promise<void> {
  for (const line of lines) await printLine(line);
}

/** Writes one JSON object a line. */
export const printJson = (value: unknown): Promise<void> => printLine(JSON.stringify(value));

// Control characters, escapes among them, but for tabs and line breaks; and those that turn the direction of writing.
const STEERING = /(?![\t\n])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** Text of a feed or a site, as it may stand on a terminal. */
export const plainText = (text: string): string => text.replaceAll('\r\n', '\n').replace(STEERING, '\ufffd');

/** The same on one line, cut to at most `length` characters. */
export function oneLine(text: string, length = 120): string {
  const line = plainText(text).replace(/\s+/g, ' ').trim();
  const characters = [...line.slice(0, 2 * length + 2)];
  return characters.length > length ? `${characters.slice(0, length - 1).join('')}…` : line;
}
