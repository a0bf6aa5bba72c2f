// Converts dates as feeds write them to ISO 8601, without a clock or the machine's time zone.
// Not a date library: those parse one declared form, or guess.

/** The order of day and month in numeric dates. Feeds do not declare it, so the configuration must. */
export type NumericOrder = 'month first' | 'day first';

export const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Hours from UTC of the zone names of RFC 5322, section 4.3. */
const ZONE_HOURS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    Z: 0,
    UTC: 0,
    GMT: 0,
    UT: 0,
    EST: -5,
    EDT: -4,
    CST: -6,
    CDT: -5,
    MST: -7,
    MDT: -6,
    PST: -8,
    PDT: -7,
  }),
);

/** With the slashes that Gnumeric and Asian programs write. */
const ISO = /^(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?:[Tt ]+(.+))?$/;
/** ISO 8601, the basic format: "20261102T130000Z". */
const ISO_BASIC = /^((?:19|20)\d{2})(\d{2})(\d{2})(?:[Tt](\d{2})(\d{2})(\d{2})?(Z|z|[+-]\d{2}(?::?\d{2})?)?)?$/;
/** With the years of two digits of RFC 822. */
const RFC_822 = /^(?:[A-Za-z]{3,9}(?:,\s*|\s+))?(\d{1,2})[ -]+([A-Za-z]{3,9})\.?,?[ -]+(\d{4}|\d{2})(?:\s+(.+))?$/;
/** As JavaScript writes a Date, and people in the U.S. a day: "Thu Oct 01 2026 09:30:00 GMT+0000", "October 1, 2026". */
const MONTH_FIRST =
  /^(?:[A-Z]{3,9}(?:,\s*|\s+))?(Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?\s+(\d{1,2}),?\s+(\d{4})(?:\s+(.+))?$/i;
/** As Java writes a Date, and C a time: "Thu Oct 01 09:30:00 UTC 2026". */
const YEAR_LAST = /^[A-Za-z]{3}\s+([A-Za-z]{3})\s+(\d{1,2})\s+(\d{2}:\d{2}:\d{2}(?:\s+[A-Z]{1,5})?)\s+(\d{4})$/;
/** A comment at the end, as in RFC 5322: "(CET)"; after an offset, the name of its zone (RFC 9557): "-04:00[America/New_York]". */
const COMMENT = /\s*\([^()]*\)$|(?<=[+-]\d{2}(?::?\d{2})?|Z)\[[\w/+-]+\]$/;
/** The years of RFC 5322, section 4.3: from 50 on, those of two digits are of the last century. */
const LAST_CENTURY = 50;
/** Not with hyphens and two digits of the year: "26-10-01" may begin with the year. */
const NUMERIC = /^(\d{1,2})(?:([./-])(\d{1,2})\2(\d{4})|([./])(\d{1,2})\5(\d{2}))(?:\s+(.+))?$/;
const EPOCH_MS = /^\d{12,13}$/;
/**
 * As the JSON writers of .NET's older libraries do: "/Date(1790861400000-0400)/". The time is in UTC, whatever the offset. "For
 * ever" is the last millisecond of 9999.
 */
const DOT_NET = /^\/Date\((-?\d{1,15})(?:[+-]\d{4})?\)\/$/;
const TIME =
  /^(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*(?:(AM|PM)\b)?\s*([A-Z]{1,5}|(?:GMT|UTC)?[+-]\d{2}(?::?\d{2})?)?$/i;

/** "Thu Oct 01 2026 09:30:00 GMT+1100 (Australian Eastern Daylight Time)" has 68. */
const MOST_CHARACTERS = 80;

/** A date as a feed has it. Times are milliseconds since 1970; `local` ones as if the clock were in UTC. */
export type ReadDate =
  | { readonly kind: 'day'; readonly iso: string }
  | { readonly kind: 'local' | 'instant'; readonly ms: number };

/**
 * Reads ISO 8601, RFC 822, `YYYY-MM-DD HH:MM:SS`, what JavaScript, Java and .NET write, milliseconds since 1970 and, if the order is given,
 * `4/8/2012` and `31.12.2012`; `undefined` for anything else, including days that do not exist.
 */
export function readDate(written: string, order?: NumericOrder): ReadDate | undefined {
  // No date is longer than this, and the patterns below may be slow on pages of spaces.
  if (written.length > MOST_CHARACTERS) return undefined;
  const text = written.replace(COMMENT, '');
  if (EPOCH_MS.test(text)) return atTime('instant', Number(text));
  const dotNet = DOT_NET.exec(text);
  if (dotNet !== null) return atTime('instant', Number(dotNet[1]));
  const iso = ISO.exec(text);
  if (iso !== null) return assemble(Number(iso[1]), Number(iso[3]), Number(iso[4]), iso[5]);
  const basic = ISO_BASIC.exec(text);
  if (basic !== null) {
    const [, year, month, day, hour, minute, second = '00', zone = ''] = basic;
    const time = hour === undefined ? undefined : `${hour}:${minute}:${second}${zone}`;
    return assemble(Number(year), Number(month), Number(day), time);
  }
  const rfc = RFC_822.exec(text);
  if (rfc !== null) {
    return assemble(fullYear(rfc[3] ?? ''), monthOf(rfc[2]), Number(rfc[1]), rfc[4]);
  }
  const named = MONTH_FIRST.exec(text);
  if (named !== null) return assemble(Number(named[3]), monthOf(named[1]), Number(named[2]), named[4]);
  const last = YEAR_LAST.exec(text);
  if (last !== null) return assemble(Number(last[4]), monthOf(last[1]), Number(last[2]), last[3]);
  const numeric = NUMERIC.exec(text);
  if (numeric === null || order === undefined) return undefined;
  const [first, second] = [Number(numeric[1]), Number(numeric[3] ?? numeric[6])];
  const [month, day] = order === 'month first' ? [first, second] : [second, first];
  return assemble(fullYear(numeric[4] ?? numeric[7] ?? ''), month, day, numeric[8]);
}

const monthOf = (name = ''): number => MONTHS.indexOf(name.slice(0, 3).toLowerCase()) + 1;

function fullYear(year: string): number {
  if (year.length === 4) return Number(year);
  return Number(year) + (Number(year) < LAST_CENTURY ? 2000 : 1900);
}

/** Why a text is no date that {@link readDate} reads, in words that follow it: "is not a recognised date; …". */
export function explainNoDate(text: string, hint: string): string {
  const [, zone = ''] =
    /\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s*(?:[AP]M\b)?\s*([A-Z]{2,5})(?:\s*\([^()]*\))?$/i.exec(text.slice(0, 64)) ??
    [];
  const isUnknown = zone !== '' && zoneMinutes(zone.toUpperCase()) === undefined && !/^[AP]M$/i.test(zone);
  return isUnknown
    ? `is not a recognised date: several time zones are called ${zone}; only those of RFC 5322 (UTC, GMT, EST, PDT …) and offsets such as +01:00 are read`
    : `is not a recognised date; ${hint}`;
}

/**
 * The date in ISO 8601: `YYYY-MM-DD`, or `YYYY-MM-DDTHH:MM:SS` if there is a time, in UTC with a `Z` if the zone is known;
 * `undefined` for a text that {@link readDate} does not read.
 */
export function isoDate(text: string, order?: NumericOrder): string | undefined {
  const date = readDate(text, order);
  if (date === undefined || date.kind === 'day') return date?.iso;
  return `${new Date(date.ms).toISOString().slice(0, 19)}${date.kind === 'instant' ? 'Z' : ''}`;
}

function assemble(year: number, month: number, day: number, time: string | undefined): ReadDate | undefined {
  const midnight = Date.UTC(year, month - 1, day);
  const date = new Date(midnight);
  // Date.UTC turns 31 February into 3 March, and the years 0 to 99 into 1900 to 1999.
  if (date.getUTCFullYear() !== year || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  if (time === undefined) return { kind: 'day', iso: date.toISOString().slice(0, 10) };

  const [, hour = '', minute = '', second = '0', half, zone] = TIME.exec(time.trim()) ?? [];
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toUpperCase() === 'PM' ? 12 : 0);
  // ISO 8601 calls the end of a day 24:00.
  const isEndOfDay = half === undefined && Number(hour) === 24 && Number(minute) === 0 && Number(second) === 0;
  if (hour === '' || (hours > 23 && !isEndOfDay) || Number(minute) > 59 || Number(second) > 60) return undefined;
  const local = midnight + ((hours * 60 + Number(minute)) * 60 + Number(second)) * 1000;
  if (zone === undefined) return atTime('local', local);
  const offset = zoneMinutes(zone.toUpperCase());
  return offset === undefined ? undefined : atTime('instant', local - offset * 60_000);
}

function zoneMinutes(zone: string): number | undefined {
  const numeric = /^(?:GMT|UTC)?([+-])(\d{2})(?::?(\d{2}))?$/.exec(zone);
  if (numeric !== null) return (numeric[1] === '-' ? -1 : 1) * (Number(numeric[2]) * 60 + Number(numeric[3] ?? 0));
  const hours = ZONE_HOURS.get(zone);
  return hours === undefined ? undefined : hours * 60;
}

function atTime(kind: 'local' | 'instant', ms: number): ReadDate | undefined {
  // Years before 0 and after 9999 have a sign and six digits; no feed means such a year, nor one of the first hundred.
  return /^(?!00)\d{4}-/.test(new Date(ms).toISOString()) ? { kind, ms } : undefined;
}

// The time by which one record is read, and what its conditions on dates make of it: since when, and until when.

/** When a feed is read, in milliseconds since 1970. The same for all of its documents, records and details. */
export interface ReadingTime {
  /** By the clock that all pulls share. */
  readonly now: number;
  /** By the clock of the source, if it told. */
  readonly source?: number;
}

/** Clocks that differ by less count as one. */
export const SAME_CLOCK_MS = 5 * 60_000;

/** Collects while one record is read. */
export class RecordDates {
  readonly now: number;
  /** By the source's clock, if that is another one. */
  readonly #source: number | undefined;
  /** When the last outcome began: that of the rule that skips the record, if it is skipped. `-Infinity`: no date decided. */
  since = Number.NEGATIVE_INFINITY;
  /** When the record may become something else without being changed; `Infinity`: never. */
  until = Number.POSITIVE_INFINITY;

  constructor({ now, source = now }: ReadingTime) {
    this.now = now;
    this.#source = Math.abs(source - now) < SAME_CLOCK_MS ? undefined : source;
  }

  /** The dates of the record by the source's clock; `undefined`: the clocks agree. */
  bySource(): RecordDates | undefined {
    return this.#source === undefined ? undefined : new RecordDates({ now: this.#source });
  }

  note({ since, until }: { readonly since: number; readonly until: number }): void {
    this.since = since;
    this.until = Math.min(this.until, until);
  }
}
