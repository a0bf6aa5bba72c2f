// Logs to standard error: text for people or JSON for programs, in bounded lines without secrets.
import { hostname } from 'node:os';
import { pino } from 'pino';
import { boundLine, MAX_LINE_LENGTH } from './bounded-line.ts';
import { prettyLine } from './pretty-line.ts';
import { createScrub } from './scrub-secrets.ts';
import { terminalText } from './terminal-text.ts';

/** Log levels, from least to most urgent; `info` once per state change, `error` needs a person. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
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
