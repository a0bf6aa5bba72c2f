// The only way to standard output and standard error: at the pace of the reader, and as text that can't steer a terminal.
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { OutputFailedError, outputFailure } from './output-failure.ts';
import { terminalText } from './terminal-text.ts';

let stop: AbortSignal | undefined;

/** Has {@link printLine} throw the reason of `signal` once it is aborted, so that a long list ends and its command closes. */
export function stopPrintingOn(signal: AbortSignal): void {
  stop = signal;
}

/**
 * Writes one line, or a text of several; resolves when the next may come.
 * @throws OutputFailedError where nobody reads any more, or the file can't take more.
 */
export const printLine = (text: string): Promise<void> => writeLine(terminalText(text));

/** Writes one line of a data file: exactly as it is, unless it goes to a terminal. Throws as {@link printLine} does. */
export const printData = (text: string): Promise<void> => writeLine(process.stdout.isTTY ? terminalText(text) : text);

async function writeLine(line: string): Promise<void> {
  throwIfFailed();
  stop?.throwIfAborted();
  if (process.stdout.write(`${line}\n`)) return;
  try {
    await once(process.stdout, 'drain', { signal: stop });
  } catch (error) {
    throwIfFailed();
    throw stop?.aborted ? stop.reason : error;
  }
}

function throwIfFailed(): void {
  const failure = outputFailure();
  if (failure !== undefined) throw new OutputFailedError(failure);
}

export async function printLines(lines: Iterable<string>): Promise<void> {
  for (const line of lines) await printLine(line);
}

/** Writes one JSON object a line. */
export const printJson = (value: unknown): Promise<void> => printLine(JSON.stringify(value));

/** Writes to standard error: notices, warnings and failures, so that standard output stays for results. */
export function printNotice(text: string): void {
  process.stderr.write(`${terminalText(text)}\n`);
}

/** Text of a feed or a site as one line, cut to at most `length` characters. */
export function oneLine(text: string, length = 120): string {
  const line = terminalText(text).replace(/\s+/g, ' ').trim();
  const characters = [...line.slice(0, 2 * length + 2)];
  return characters.length > length ? `${characters.slice(0, length - 1).join('')}…` : line;
}

/** Asks on the terminal, and gives the answer, empty at its end; `undefined` where nobody can be asked. */
export async function ask(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  // Not as a line editor, which would take Ctrl-C for itself.
  const reader = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  const ended = once(reader, 'close').then(() => '');
  try {
    return await Promise.race([
      reader.question(terminalText(question), stop === undefined ? {} : { signal: stop }),
      ended,
    ]);
  } catch (error) {
    throw stop?.aborted ? stop.reason : error;
  } finally {
    reader.close();
  }
}
