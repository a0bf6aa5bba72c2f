// Formats a JSON log line for a terminal: time, level, message, fields; below it an indented stack.
// Not pino-pretty: it passes some control characters of the data on to the terminal.
import { styleText } from 'node:util';
import { terminalText } from './terminal-text.ts';

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
export function prettyLine(line: string, colour: boolean): string {
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
  const trouble = errorText(entry.err);
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

/** The stacks and own properties (such as `code`) of an error and its causes, as serialized by pino's `errWithCause`. */
function errorText(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return error === undefined ? undefined : terminalText(String(error));
  const { type: _type, message, stack, cause, ...properties } = error as Record<string, unknown>;
  const lines = [terminalText(String(stack ?? message))];
  if (Object.keys(properties).length > 0) lines.push(terminalText(JSON.stringify(properties)));
  const below = errorText(cause);
  if (below !== undefined) lines.push(`caused by: ${below}`);
  return lines.join('\n');
}
