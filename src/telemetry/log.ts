// Logs to standard error: text for people or JSON for programs, in bounded lines without secrets.
import { hostname } from 'node:os';
import { pino } from 'pino';
import { prettyLine } from './pretty-line.ts';
import { createScrub } from './scrub-secrets.ts';
import { terminalText } from './terminal-text.ts';

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
