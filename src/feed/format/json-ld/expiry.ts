// Tells whether a posting's `validThrough` has passed, by the clocks of a reading.
import { type ReadingTime, SAME_CLOCK_MS } from '../../../posting/record-dates.ts';

const DATE = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

const HOUR_MS = 3_600_000;
/** A time without a zone has passed everywhere on Earth only after this time (UTC-12). */
const LAST_ZONE_MS = 12 * HOUR_MS;

/** Earlier years stand for no date: 0001, 1900 and 1970 are what programs write for none. */
const FIRST_YEAR = 2000;

export type Expiry = 'valid' | 'expired' | 'uncertain';

/**
 * `uncertain` if it depends on which of two clocks is right: a wrong one must not delete jobs. A day ends at its midnight.
 * What is not a date or time (ISO 8601), or can't be the end of this posting, never passes.
 * @param posted when the posting was published.
 */
export function expiryOf(text: string, posted: string | undefined, { now, source = now }: ReadingTime): Expiry {
  const passed = hasPassed(text, posted, now);
  const isCertain = Math.abs(source - now) < SAME_CLOCK_MS || hasPassed(text, posted, source) === passed;
  if (!isCertain) return 'uncertain';
  return passed ? 'expired' : 'valid';
}

function hasPassed(text: string, posted: string | undefined, now: number): boolean {
  const [all, year, month, day, hour, minute, second = '0', zone] = DATE.exec(text.trim()) ?? [];
  if (all === undefined || Number(year) < FIRST_YEAR) return false;
  // Both begin with the day, as in 2026-11-23.
  const postedDay = DATE.test(posted?.trim() ?? '') ? (posted ?? '').trim().slice(0, 10) : '';
  if (all.slice(0, 10) < postedDay) return false;
  const midnight = Date.UTC(Number(year), Number(month) - 1, Number(day));
  if (new Date(midnight).getUTCDate() !== Number(day)) return false;
  if (hour === undefined) return midnight + 24 * HOUR_MS + LAST_ZONE_MS <= now;
  const local = midnight + Number(hour) * HOUR_MS + Number(minute) * 60_000 + Number(second) * 1000;
  return local + (zone === undefined ? LAST_ZONE_MS : -offsetMs(zone)) < now;
}

function offsetMs(zone: string): number {
  if (/^z$/i.test(zone)) return 0;
  const digits = zone.slice(1).replace(':', '');
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2) || '0');
  return (zone.startsWith('-') ? -1 : 1) * minutes * 60_000;
}
