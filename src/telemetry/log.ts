// Logs to standard error: text for people or JSON for programs, in bounded lines without secrets.
import { hostname } from 'node:os';
import { styleText } from 'node:util';
import { pino } from 'pino';
import { secretReplacer } from '../posting/secret-pattern.ts';
import { terminalText } from './print.ts';

/** Maximum characters of a log line, without its line break. */
export const MAX_LINE_LENGTH = 16_384;

/** Characters kept of each text in an overlong line. */
const MAX_TEXT_LENGTH = 1_024;

/** Log levels, from least to most urgent; `info` once per state change, `error` needs a person. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Logs fields and a constant message: `log.info({ feed, key, durationMs }, 'change accepted')`. */
export type Logger = pino.Logger;

/** Where the lines go. A terminal has `isTTY` (`tty.WriteStream`). */
export interface LogDestination {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  hasColors?(): boolean;
}

export interface LogOptions {
  readonly level: LogLevel;
  /** Texts that must not appear in the log in any form. */
  readonly secrets: readonly string[];
  /** Write JSON unless the destination is a terminal: for services, and with `--json`. Default: text for people. */
  readonly json?: boolean;
  /** Default: standard error, which keeps standard output for results. */
  readonly destination?: LogDestination;
}

/**
 * Creates a logger. Secrets are removed from the finished line, to cover everything: fields, messages, names, stacks of
 * errors and their causes. Only then is the line cut to its limit, because a cut could leave half of a secret.
 */
export function createLogger(options: LogOptions): Logger {
  const destination = options.destination ?? process.stderr;
  const scrub = createScrub(options.secrets);
  const colour = destination.hasColors?.() ?? false;
  const isJson = options.json === true && destination.isTTY !== true;
  const write = (line: string): void => {
    const scrubbed = scrub(line.trimEnd());
    const form = isJson ? terminalText : (bounded: string): string => prettyLine(bounded, colour);
    destination.write(`${formLine(scrubbed, form)}\n`);
  };
  return pino(
    {
      level: options.level,
      // Several processes may work on one queue.
      base: { pid: process.pid, hostname: hostname() },
      serializers: { err: pino.stdSerializers.errWithCause },
    },
    { write },
  );
}

function formLine(line: string, form: (line: string) => string): string {
  try {
    return form(boundLine(line));
  } catch (error) {
    // Removing a secret that is a number or a JSON keyword broke the JSON around the texts.
    if (error instanceof SyntaxError) return terminalText(line.slice(0, MAX_LINE_LENGTH));
    throw error;
  }
}

/**
 * Returns a short line unchanged. In a longer one, cuts long texts to fit {@link MAX_LINE_LENGTH} characters, and adds the
 * original length (`cutFrom`). A line that is still too long keeps only time, level and message.
 */
function boundLine(line: string): string {
  if (line.length <= MAX_LINE_LENGTH) return line;
  const entry = JSON.parse(line, (_name, value: unknown) => (typeof value === 'string' ? cut(value) : value));
  const shorter = JSON.stringify({ ...entry, cutFrom: line.length });
  if (shorter.length <= MAX_LINE_LENGTH) return shorter;
  return JSON.stringify({ level: entry.level, time: entry.time, msg: entry.msg, cutFrom: line.length });
}

const cut = (text: string): string => (text.length <= MAX_TEXT_LENGTH ? text : `${text.slice(0, MAX_TEXT_LENGTH)}…`);

// Formats a JSON log line for a terminal: time, level, message, fields; below it an indented stack.
// Not pino-pretty: it passes some control characters of the data on to the terminal.

type Style = Parameters<typeof styleText>[0];

const LEVELS: Readonly<Record<number, { readonly name: string; readonly style: Style }>> = {
  10: { name: 'trace', style: 'gray' },
  20: { name: 'debug', style: 'gray' },
  30: { name: 'info', style: 'cyan' },
  40: { name: 'warn', style: 'yellow' },
  50: { name: 'error', style: 'red' },
  60: { name: 'fatal', style: 'red' },
};

/** Fields of every line that do not help a person who watches one process. */
const HIDDEN = new Set(['level', 'time', 'msg', 'pid', 'hostname', 'err']);

/**
 * @param line one line as pino writes it
 * @param colour whether the terminal shows colours
 * @returns the text to show, without a trailing line break. Control characters in the data are escaped, so a feed can't
 *   control the terminal.
 */
function prettyLine(line: string, colour: boolean): string {
  const entry: Record<string, unknown> = JSON.parse(line);
  const paint = (style: Style, text: string): string =>
    colour ? styleText(style, text, { validateStream: false }) : text;
  const level = LEVELS[Number(entry.level)] ?? { name: String(entry.level), style: 'gray' };
  const fields = Object.entries(entry).filter(([name]) => !HIDDEN.has(name));
  const head = [
    paint('gray', timeOfDay(Number(entry.time))),
    paint(level.style, level.name.padEnd(5)),
    terminalText(String(entry.msg ?? '')),
    ...fields.map(([name, value]) => paint('gray', `${terminalText(name)}=`) + valueText(value)),
  ].join(' ');
  const trouble = errorText(entry.err, entry.level === WARN);
  return trouble === undefined ? head : `${head}\n${paint('gray', trouble.replace(/^/gm, '    '))}`;
}

function timeOfDay(epochMs: number): string {
  const two = (part: number): string => String(part).padStart(2, '0');
  const at = new Date(epochMs);
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

function valueText(value: unknown): string {
  const isPlainWord = typeof value === 'string' && /^[\w.:/@%+,-]+$/.test(value);
  return isPlainWord ? value : terminalText(JSON.stringify(value));
}

const WARN = 40;

/** What only a mistake of the program throws. */
const MISTAKES = /^(?:Type|Range|Reference|Syntax|Assertion)Error$/;

/**
 * The stacks and own properties (such as `code`) of an error and its causes, as serialized by pino's `errWithCause`. What is tried again
 * repeats: of that, only what happened, unless it is a mistake of the program.
 */
function errorText(error: unknown, isTriedAgain: boolean): string | undefined {
  if (typeof error !== 'object' || error === null) return error === undefined ? undefined : terminalText(String(error));
  const { type, message, stack, cause, ...properties } = error as Record<string, unknown>;
  const isBrief = isTriedAgain && !MISTAKES.test(String(type));
  const { code } = properties;
  const briefly = typeof code === 'string' ? `${message} (${code})` : message;
  const lines = [terminalText(String(isBrief ? briefly : (stack ?? message)))];
  if (!isBrief && Object.keys(properties).length > 0) lines.push(terminalText(JSON.stringify(properties)));
  const below = errorText(cause, isTriedAgain);
  if (below !== undefined) lines.push(`caused by: ${below}`);
  return lines.join('\n');
}

// Removes secrets from text, in every encoding in which they may occur.

const REPLACEMENT = '[secret]';

/**
 * Returns a function that replaces each secret with `[secret]`, however it is escaped or encoded (see `secretReplacer`).
 * Ignores empty secrets. The text may be whole log lines: the replacement never breaks a JSON string.
 */
export function createScrub(secrets: readonly string[]): (text: string) => string {
  // Longest first: a short secret may be the prefix of a longer one, whose rest would remain.
  const replacers = [...new Set(secrets)]
    .filter((secret) => secret !== '')
    .sort((a, b) => b.length - a.length)
    .map((secret) => secretReplacer(secret, REPLACEMENT));
  return (text) => replacers.reduce((scrubbed, replace) => replace(scrubbed), text);
}
