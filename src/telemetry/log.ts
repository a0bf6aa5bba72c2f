// Turns log calls into lines on standard error: text for people or JSON for programs, bounded, and without secrets.
import { hostname } from 'node:os';
import { pino } from 'pino';
import { boundLine, MAX_LINE_LENGTH } from './bounded-line.ts';
import { prettyLine } from './pretty-line.ts';
import { createScrub } from './scrub-secrets.ts';
import { terminalText } from './terminal-text.ts';

/** The levels of a log, from the least to the most urgent; `info` once per change of state, `error` needs a person. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Logs fields and a constant message: `log.info({ feed, key, durationMs }, 'change accepted')`. */
export type Logger = pino.Logger;

/** Where the lines go. A terminal says so of itself (`tty.WriteStream`). */
export interface LogDestination {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  hasColors?(): boolean;
}

export interface LogOptions {
  readonly level: LogLevel;
  /** Texts that must not stand in the log in any form. */
  readonly secrets: readonly string[];
  /** JSON, unless the destination is a terminal: for services, and where JSON was asked for. Otherwise text for people. */
  readonly json?: boolean;
  /** Standard error if absent, so that standard output stays for results. */
  readonly destination?: LogDestination;
}

/**
 * Makes a logger. The secrets are removed from each finished line, so that nothing gets around it: fields, messages,
 * names, stacks of errors and their causes. Only then is it cut to its bound, so that no half of a secret stays.
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
      // Names the process among the several that may work on one queue.
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
    // A secret that is a number or a word of the format itself was taken out of the JSON around the texts.
    if (error instanceof SyntaxError) return terminalText(line.slice(0, MAX_LINE_LENGTH));
    throw error;
  }
}
