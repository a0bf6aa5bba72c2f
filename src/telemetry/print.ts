// All output to standard output and standard error: at the reader's pace, and as text that can't control the terminal.
// Records that output can no longer be written.
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { terminalText } from './terminal-text.ts';

let stop: AbortSignal | undefined;

/** Once `signal` is aborted, {@link printLine} throws its reason, which ends a long list and its command. */
export function stopPrintingOn(signal: AbortSignal): void {
  stop = signal;
}

/**
 * Writes one or more lines; resolves when more may be written.
 * @throws OutputFailedError if the reader is gone, or the file can't grow.
 */
export const printLine = (text: string): Promise<void> => writeLine(terminalText(text));

/** Writes one line of a data file, unchanged unless it goes to a terminal. Throws like {@link printLine}. */
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

/** Writes one JSON object as a line. */
export const printJson = (value: unknown): Promise<void> => printLine(JSON.stringify(value));

/** Writes notices, warnings and failures to standard error; standard output is for results. */
export function printNotice(text: string): void {
  process.stderr.write(`${terminalText(text)}\n`);
}

/** Turns a text of a feed or site into one line of at most `length` characters. */
export function oneLine(text: string, length = 120): string {
  const line = terminalText(text).replace(/\s+/g, ' ').trim();
  const characters = [...line.slice(0, 2 * length + 2)];
  return characters.length > length ? `${characters.slice(0, length - 1).join('')}…` : line;
}

/** Asks on the terminal. Returns the answer, empty at end of input; `undefined` if nobody can be asked. */
export async function ask(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  // Without line editing, which would intercept Ctrl-C.
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

/** Asks on the terminal for what must not be shown. `undefined` if nobody can be asked, or the person gave up. */
export async function askHidden(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY) return undefined;
  process.stderr.write(question);
  // The reader itself would show what is typed.
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output: silent, terminal: true });
  const givenUp = new AbortController();
  reader.on('SIGINT', () => givenUp.abort());
  reader.on('close', () => givenUp.abort());
  try {
    return await reader.question('', { signal: givenUp.signal });
  } catch {
    return undefined;
  } finally {
    reader.close();
    process.stderr.write('\n');
  }
}

/** Thrown by a command whose output can no longer be delivered. */
export class OutputFailedError extends Error {
  override name = 'OutputFailedError';
  readonly code: string | undefined;

  constructor(cause: NodeJS.ErrnoException) {
    super(`standard output can't be written: ${cause.message}`, { cause });
    this.code = cause.code;
  }
}

let failed: NodeJS.ErrnoException | undefined;
const listeners = new Set<() => void>();

/** Why standard output can no longer be written; `undefined` if it can. */
const outputFailure = (): NodeJS.ErrnoException | undefined => failed;

/** Calls `listener` once when either stream fails, at once if one already has. Returns a function that removes it. */
export function onOutputFailure(listener: () => void): () => void {
  if (failed !== undefined) listener();
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Handles the streams' errors: otherwise a closed pipe (EPIPE), a lost terminal (EIO) or a full disk (ENOSPC) would end
 * the process in the middle of its work.
 */
export function watchOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (stream === process.stdout) failed ??= error;
      for (const listener of listeners) listener();
    });
  }
}
