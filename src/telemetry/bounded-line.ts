// Turns a JSON log line of any length into one of bounded length that is still JSON.

/** Characters of a log line, without its line break. */
export const MAX_LINE_LENGTH = 16_384;

/** Characters that stay of one text of a line that is too long. */
const MAX_TEXT_LENGTH = 1_024;

/**
 * Gives back the line as it is, or one of at most {@link MAX_LINE_LENGTH} characters whose long texts are cut and that
 * says how long it was (`cutFrom`). What does not fit even so loses all its fields but time, level and message.
 */
export function boundLine(line: string): string {
  if (line.length <= MAX_LINE_LENGTH) return line;
  const entry = JSON.parse(line, (_name, value: unknown) => (typeof value === 'string' ? cut(value) : value));
  const shorter = JSON.stringify({ ...entry, cutFrom: line.length });
  if (shorter.length <= MAX_LINE_LENGTH) return shorter;
  return JSON.stringify({ level: entry.level, time: entry.time, msg: entry.msg, cutFrom: line.length });
}

const cut = (text: string): string => (text.length <= MAX_TEXT_LENGTH ? text : `${text.slice(0, MAX_TEXT_LENGTH)}…`);
