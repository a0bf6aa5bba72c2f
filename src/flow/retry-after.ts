// Reads the Retry-After header as milliseconds to wait.

/** The longest wait at a time, whatever the site asks for. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/**
 * Reads `Retry-After` (RFC 9110, 10.2.3): seconds, or an HTTP date. A date is relative to the answer's own `Date` if it
 * has one, so a wrong clock does no harm. Returns 0 up to one hour, or `undefined` if the header is absent or
 * unreadable. `now` is in milliseconds since the epoch.
 */
export function readRetryAfter(header: string | undefined, date: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return bounded(Number(text) * 1000);
  const until = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(until)) return undefined;
  const answeredAt = Date.parse(date ?? '');
  return bounded(until - (Number.isNaN(answeredAt) ? now : answeredAt));
}

const bounded = (ms: number): number => Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
