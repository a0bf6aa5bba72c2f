// All output to standard output and standard error: at the reader's pace, and as text that can't control the terminal.
// Records that output can no longer be written.
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';

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

/** Asks on the terminal whether to do something. `undefined` if nobody can be asked. */
export async function askWhether(question: string): Promise<boolean | undefined> {
  const answer = await ask(`${question} [y/N] `);
  return answer === undefined ? undefined : /^\s*y(es)?\s*$/i.test(answer);
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

// Shows the progress of long work: a rewritten line on a terminal, occasional plain lines in a pipe.

export interface ProgressLine {
  /** Shows the text, unless the last one was shown too recently. */
  show(text: string): void;
  /** Clears the line before something else is printed. */
  clear(): void;
}

const TERMINAL_EVERY_MS = 100;
const PIPE_EVERY_MS = 10_000;

/** Writes to standard error; standard output is for results. */
export function startProgressLine(stream: NodeJS.WriteStream | WriteStream = process.stderr): ProgressLine {
  const everyMs = stream.isTTY ? TERMINAL_EVERY_MS : PIPE_EVERY_MS;
  let shownAt = stream.isTTY ? Number.NEGATIVE_INFINITY : performance.now();
  let dirty = false;
  return {
    show(text) {
      if (performance.now() - shownAt < everyMs) return;
      shownAt = performance.now();
      if (stream.isTTY) {
        const width = Math.max(20, (stream.columns ?? 80) - 1);
        stream.write(`\r\x1b[2K${terminalText(text).slice(0, width)}`);
        dirty = true;
      } else {
        stream.write(`${terminalText(text)}\n`);
      }
    },
    clear() {
      if (dirty) stream.write('\r\x1b[2K');
      dirty = false;
    },
  };
}

/** The share of the time that a progress check may take. */
const SHARE_OF_TIME = 0.05;

/** Returns a throttled `check`: calls are skipped if checking would take more than {@link SHARE_OF_TIME}. */
export function throttled(
  check: () => Promise<void>,
  now: () => number = () => performance.now(),
): () => Promise<void> {
  let nextAt = Number.NEGATIVE_INFINITY;
  return async () => {
    const begin = now();
    if (begin < nextAt) return;
    await check();
    nextAt = now() + (now() - begin) / SHARE_OF_TIME;
  };
}

/** Bytes for people, such as `12.3 MB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}

/** Seconds for people, such as `2 min 05 s`. */
export function formatSeconds(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${String(whole % 60).padStart(2, '0')} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

// Escapes text of feeds, sites and people, to stop it from controlling the terminal.

/**
 * Characters that move the cursor, start escape sequences (C0 and C1 controls, OSC among them, and DEL), change the
 * direction of text, end a line in some programs, or carry invisible text (tags). Tab and line feed are kept. The flag `u`
 * is omitted because it makes the search three times as slow, and it runs over all output.
 */
const STEERING =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this expression searches for them.
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u206f\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;
const LONE_SURROGATE = /\p{Cs}/gu;

/**
 * Replaces each such character by its escape, such as `\u001b`. A JSON text keeps its value, because there they occur
 * only inside strings.
 */
export function terminalText(text: string): string {
  const lines = text.includes('\r') ? text.replaceAll('\r\n', '\n') : text;
  const steady = lines.replace(STEERING, escapeOf);
  return steady.isWellFormed() ? steady : steady.replace(LONE_SURROGATE, escapeOf);
}

const escapeOf = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');

// Text of several paragraphs: coloured on a terminal, plain in a pipe.

type Style = Parameters<typeof styleText>[0];

export interface PrintedPage {
  /** Prints a paragraph or list, each line indented by `indent` spaces. */
  say(text: string, indent?: number): void;
  /** Prints a heading, with an empty line above and below. */
  heading(text: string): void;
  /** Colours part of a line if the output supports colours. */
  paint(style: Style, text: string): string;
}

export function openPage(): PrintedPage {
  const stream = process.stdout;
  const colours = stream.isTTY === true && stream.hasColors();
  const paint = (style: Style, text: string): string =>
    colours ? styleText(style, text, { validateStream: false }) : text;
  const say = (text: string, indent = 2): void => {
    stream.write(`${text.replace(/^(?=.)/gm, ' '.repeat(indent))}\n`);
  };
  return {
    say,
    paint,
    heading: (text) => say(`\n${paint('bold', text)}\n`, 0),
  };
}
