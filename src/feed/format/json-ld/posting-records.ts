// Makes records of the JobPostings in JSON-LD texts, and hands them over.
import { LAST_ZONE_MS } from '../../../posting/date-conditions.ts';
import { type ReadingTime, SAME_CLOCK_MS } from '../../../posting/record-dates.ts';
import { describeClocks } from '../../reading-clock.ts';
import type { SplitOptions, SplitSink } from '../format.ts';
import { RecordHandOver } from '../record-hand-over.ts';
import { findPostings } from './find-postings.ts';

/** A record that waits for the page's address. */
interface Waiting {
  readonly json: Buffer;
  /** The position of the text in the document. */
  readonly at: number;
  /** Absent for a text that is broken. */
  readonly posting?: { readonly url: string | undefined; readonly isExpired: boolean };
}

/** Postings that wait for the page's address, in bytes; no page has more of them before it states its address. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;

/**
 * Each posting gets an object `page` with what more than its own bytes decide: `address`, where the posting can be found,
 * `stated` if only its page says so, and `expired` once its `validThrough` has passed. As a part of the record, they change its hash. A posting that may have
 * expired counts as expired: it is not created, and the reading is incomplete, so it is not deleted either.
 */
export class PostingRecords {
  /** During the hand-over of a record: its position in the document. */
  origin = 0;
  readonly #records: RecordHandOver;
  readonly #time: ReadingTime;
  /** Postings that have expired by one of the clocks only. */
  #uncertain = 0;
  /** The address that the document was requested from. */
  readonly #requested: Requested | undefined;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;

  constructor(options: SplitOptions, sink: SplitSink) {
    const { maxRecordBytes, address, isElsewhere = false, time = { now: Date.now() } } = options;
    this.#requested = address === undefined ? undefined : { address, isElsewhere };
    this.#records = new RecordHandOver(sink, maxRecordBytes);
    this.#time = time;
  }

  /** Records handed over so far. */
  get counts(): { readonly records: number; readonly oversizedRecords: number } {
    const { records, oversizedRecords } = this.#records;
    return { records, oversizedRecords };
  }

  /** Why it is not known which postings have expired; empty if it is. */
  get uncertainty(): readonly string[] {
    if (this.#uncertain === 0) return [];
    const some = this.#uncertain === 1 ? '1 posting has' : `${this.#uncertain} postings have`;
    return [`whether ${some} expired is uncertain: ${describeClocks(this.#time)}`];
  }

  /**
   * Takes the postings in a JSON text. A broken text is one record, unless it certainly has no posting. @param at its
   * position in the document.
   */
  take(text: Buffer, at: number): void {
    const postings = findPostings(text);
    if (postings === undefined) {
      // Escapes may hide the name.
      if (text.includes('JobPosting') || text.includes('\\u')) this.#wait({ json: Buffer.from(text), at });
      return;
    }
    for (const { start, end, url, validThrough, datePosted } of postings) {
      const expiry = validThrough === undefined ? 'valid' : expiryOf(validThrough, datePosted, this.#time);
      if (expiry === 'uncertain') this.#uncertain++;
      const isExpired = expiry !== 'valid';
      this.#wait({ json: Buffer.from(text.subarray(start, end)), at: at + start, posting: { url, isExpired } });
    }
  }

  /** Takes a text that is too long, of which the first bytes are kept. */
  takeOversized(head: Buffer, length: number): void {
    this.#records.keepHead(head, 0);
    this.#records.end(head, 0, length);
  }

  /** Whether the postings that wait should be handed over now. */
  get isFull(): boolean {
    return this.#waitingBytes > MAX_WAITING_BYTES;
  }

  /** Hands the postings over. @param page the HTML page that they are in, with the address that it states about itself. */
  release(page?: Page): void {
    for (const { json, at, posting } of this.#waiting) {
      this.origin = at;
      const record = posting === undefined ? json : withPage(json, pageOf(posting, page, this.#requested));
      this.#records.end(record, 0, record.length);
    }
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  #wait(record: Waiting): void {
    this.#waiting.push(record);
    this.#waitingBytes += record.json.length;
  }
}

interface Page {
  readonly stated: string | undefined;
}

/** From where a document was requested. */
interface Requested {
  readonly address: string;
  /** Redirects have led to an address that may be another page's. */
  readonly isElsewhere: boolean;
}

const pageOf = (
  { url, isExpired }: NonNullable<Waiting['posting']>,
  page: Page | undefined,
  requested: Requested | undefined,
): object => ({
  ...(url === undefined
    ? addressOfPage(page, requested)
    : { address: inFull(url, requested?.address ?? page?.stated) }),
  ...(isExpired ? { expired: true } : {}),
});

/**
 * What the page states about itself comes and goes, and then every key that is made of it would change: it counts only if
 * nobody requested the page. A JSON document is no page of a posting. The page after a redirect may be that of another posting,
 * unless it states the address that was requested.
 */
function addressOfPage(page: Page | undefined, requested: Requested | undefined): object {
  if (page === undefined) return {};
  if (requested === undefined) return page.stated === undefined ? {} : { address: page.stated, stated: true };
  const { address, isElsewhere } = requested;
  const isStated = page.stated !== undefined && new URL(page.stated).href === new URL(address).href;
  return isElsewhere && !isStated ? {} : { address };
}

function inFull(url: string, base: string | undefined): string {
  if (URL.canParse(url) || base === undefined) return url;
  return URL.canParse(url, base) ? new URL(url, base).href : url;
}

/** Adds the first member to the text of an object, which has others. */
function withPage(json: Buffer, page: object): Buffer {
  const text = JSON.stringify(page);
  return text === '{}' ? json : Buffer.concat([Buffer.from(`{"page":${text},`), json.subarray(1)]);
}

// Tells whether a posting's `validThrough` has passed, by the clocks of a reading.

const DATE = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

const HOUR_MS = 3_600_000;

/** Earlier years stand for no date: 0001, 1900 and 1970 are what programs write for none. */
const FIRST_YEAR = 2000;

type Expiry = 'valid' | 'expired' | 'uncertain';

/**
 * `uncertain` if it depends on which of two clocks is right: a wrong one must not delete jobs. A day ends at its midnight.
 * What is not a date or time (ISO 8601), or can't be the end of this posting, never passes.
 * @param posted when the posting was published.
 */
function expiryOf(text: string, posted: string | undefined, { now, source = now }: ReadingTime): Expiry {
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
