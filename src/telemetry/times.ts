// Formats times and durations for people: times with their zone, durations in at most two units.

const PARTS = new Intl.DateTimeFormat('en-CA', {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
});

/** A time in the machine's zone: `2026-03-20 14:05:09 UTC`. */
export function formatTime(time: Date): string {
  const parts = Object.fromEntries(PARTS.formatToParts(time).map(({ type, value }) => [type, value]));
  const { year, month, day, hour, minute, second, timeZoneName } = parts;
  return `${year}-${month}-${day} ${hour}:${minute}:${second} ${timeZoneName}`;
}

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** A duration: `3 d 4 h`, `12 min 5 s`, `0 s`. */
export function formatSpan(durationMs: number): string {
  let seconds = Math.max(0, Math.floor(durationMs / 1000));
  const first = UNITS.findIndex(([, size]) => seconds >= size);
  if (first < 0) return '0 s';
  const parts = UNITS.slice(first, first + 2).flatMap(([unit, size]) => {
    const count = Math.floor(seconds / size);
    seconds -= count * size;
    return count === 0 ? [] : [`${count} ${unit}`];
  });
  return parts.join(' ');
}

/** Milliseconds until then, to the second: what is shown a moment after it was read is not a second less. */
export const msUntil = (time: Date): number => Math.round((time.getTime() - Date.now()) / 1_000) * 1_000;
