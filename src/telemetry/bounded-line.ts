// Shortens a JSON log line to a bounded length, and keeps it valid JSON.

/** Maximum characters of a log line, without its line break. */
export const MAX_LINE_LENGTH = 16_384;

/** Characters kept of each text in an overlong line. */
const MAX_TEXT_LENGTH = 1_024;

/**
 * Returns a short line unchanged. In a longer one, cuts long texts to fit {@link MAX_LINE_LENGTH} characters, and adds the
 * original length (`cutFrom`). A line that is still too long keeps only time, level and message.
 */
export function boundLine(line: string): string {
  if (line.length <= MAX_LINE_LENGTH) return line;
  const entry = JSON.parse(line, (_name, value: unknown) => (typeof value === 'string' ? cut(value) : value));
  const shorter = JSON.stringify({ ...entry, cutFrom: line.length });
  if (shorter.length <= MAX_LINE_LENGTH) return shorter;
  return JSON.stringify({ level: entry.level, time: entry.time, msg: entry.msg, cutFrom: line.length });
}

const cut = (text: string): string => (text.length <= MAX_TEXT_LENGTH ? text : `${text.slice(0, MAX_TEXT_LENGTH)}…`);
