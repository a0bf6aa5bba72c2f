// The format of schema.org JobPostings: splits JSON-LD in HTML pages, or in JSON documents, into its postings.
import { LAST_ZONE_MS } from '../../posting/conditions.ts';
import { type ReadingTime, SAME_CLOCK_MS } from '../../posting/dates.ts';
import { describeClocks } from '../reading-clock.ts';
import { OVERSIZED_HEAD_BYTES, RecordHandOver } from './chunk-joiner.ts';
import type { FeedFormat, SplitEnd, SplitOptions, SplitSink, Splitter } from './format.ts';
import { type Attributes, isClosing, OpeningSearch, PageReader, type PageSink } from './html-format.ts';
import { jsonFormat } from './json-format.ts';
import { JsonSplitter } from './json-splitter.ts';
import { isErrorName, OPENING_BYTES, refusalOf, statedErrorIn } from './unexpected-document.ts';
import { ValueScanner } from './value-scanner.ts';

export const jsonLdFormat: FeedFormat = {
  ...jsonFormat,
  // Postings expire while their pages stay as they are.
  dependsOnTime: true,
  usesAddress: true,
  createSplitter: (options, sink) => new JsonLdSplitter(options, sink),
};

// Splits an HTML page with JSON-LD, or a JSON-LD document, in chunks of any size, into its schema.org JobPostings.

/** One script, or one element of a JSON document, is kept in memory; a longer one is oversized. */
const MAX_TEXT_BYTES = 32 * 1024 * 1024;
/** A text that states an error is not longer. */
const MAX_ERROR_BYTES = 65_536;

const FIRST_ELEMENT = /^\s*(<\?xml[^>]*>)?(?:\s|<!--[\s\S]*?-->)*<(?:[^\s<>/:!]+:)?([^\s<>/:!]+)/;

/** Finds the JSON-LD texts of a document. */
interface TextReader {
  readonly refusal: string | undefined;
  push(chunk: Buffer): void;
  finish(isEndProven: boolean): TextsEnd;
}

interface TextsEnd {
  readonly refusal: string | undefined;
  readonly shortfalls: readonly string[];
  readonly isOpen?: boolean;
  /** What the document lacks if it has no postings; absent if it may be empty. */
  readonly lack?: string;
}

export class JsonLdSplitter implements Splitter {
  readonly #options: SplitOptions;
  readonly #postings: PostingRecords;
  #reader: TextReader | undefined;
  #refusal: string | undefined;
  /** White space at the beginning that no reader was given. */
  #blankBytes = 0;

  constructor(options: SplitOptions, sink: SplitSink) {
    this.#options = options;
    this.#postings = new PostingRecords(options, sink);
  }

  get records(): number {
    return this.#postings.counts.records;
  }

  get origin(): number {
    return this.#blankBytes + this.#postings.origin;
  }

  get refusal(): string | undefined {
    return this.#reader?.refusal ?? this.#refusal;
  }

  push(chunk: Buffer): void {
    this.#reader ??= this.#readerFor(chunk);
    if (this.#reader === undefined) this.#blankBytes += chunk.length;
    if (this.refusal === undefined) this.#reader?.push(chunk);
  }

  finish(isEndProven: boolean): SplitEnd {
    const {
      refusal,
      shortfalls,
      lack,
      isOpen = false,
    } = this.#reader?.finish(isEndProven) ?? {
      refusal: 'the page is empty',
      shortfalls: [],
    };
    const { counts, uncertainty } = this.#postings;
    this.#refusal = refusal;
    const isShort = lack !== undefined && counts.records === 0 && this.#options.acceptsEmptyPages !== true;
    return { ...counts, refusal, shortfalls: [...(isShort ? [lack] : []), ...uncertainty, ...shortfalls], isOpen };
  }

  /** The first character decides; `undefined` while there is none. */
  #readerFor(chunk: Buffer): TextReader | undefined {
    const first = chunk.find((byte) => byte > SPACE);
    if (first === undefined) return undefined;
    const maxBytes = Math.max(MAX_TEXT_BYTES, this.#options.maxRecordBytes);
    return first === OPEN_OBJECT || first === OPEN_LIST
      ? new JsonReader(this.#postings, maxBytes, first === OPEN_OBJECT)
      : new ScriptReader(this.#postings, maxBytes);
  }
}

/** Reads the scripts with JSON-LD in a page. Postings wait for the page's address, which may come after them. */
class ScriptReader implements TextReader, PageSink {
  readonly #page = new PageReader(this);
  readonly #postings: PostingRecords;
  readonly #maxBytes: number;
  #text: Buffer[] = [];
  #textBytes = 0;
  /** Where the text begins in the page. */
  #textAt = 0;
  #opening = Buffer.alloc(0);

  constructor(postings: PostingRecords, maxBytes: number) {
    this.#postings = postings;
    this.#maxBytes = maxBytes;
  }

  get refusal(): string | undefined {
    return this.#page.refusal;
  }

  push(chunk: Buffer): void {
    if (this.#opening.length < OPENING_BYTES) {
      this.#opening = Buffer.concat([this.#opening, chunk.subarray(0, OPENING_BYTES - this.#opening.length)]);
    }
    this.#page.push(chunk);
  }

  finish(isEndProven: boolean): TextsEnd {
    this.#release();
    const end = this.#page.finish(isEndProven);
    return {
      refusal: this.refusal ?? (this.#page.hasTags && !this.#isXml() ? undefined : refusalOf('HTML', this.#opening)),
      shortfalls: end === undefined ? [] : [end],
      isOpen: !this.#page.isClosed,
      lack: `the page has no JobPosting in JSON-LD${this.#page.titled}`,
    };
  }

  /** Browsers show other XML as a page, too. */
  #isXml(): boolean {
    const text = this.#opening.toString();
    const [, declaration, name = ''] = FIRST_ELEMENT.exec(text) ?? [];
    return isErrorName(name) || (declaration !== undefined && !/<html[\s>]|<!doctype\s+html/i.test(text));
  }

  beginScript({ type = '' }: Attributes): boolean {
    this.#text = [];
    this.#textBytes = 0;
    return /^\s*application\/ld\+json\s*(?:;|$)/i.test(type);
  }

  scriptText(bytes: Buffer, at: number): void {
    if (this.#textBytes === 0) this.#textAt = at;
    if (this.#textBytes <= this.#maxBytes) this.#text.push(bytes);
    this.#textBytes += bytes.length;
  }

  endScript(): void {
    const text = Buffer.concat(this.#text);
    this.#text = [];
    if (this.#textBytes > this.#maxBytes) {
      this.#postings.takeOversized(text.subarray(0, OVERSIZED_HEAD_BYTES), this.#textBytes);
    } else {
      const json = new OpeningSearch().push(text) ?? text;
      this.#postings.take(json, this.#textAt + text.length - json.length);
    }
    if (this.#postings.isFull) this.#release();
  }

  #release(): void {
    this.#postings.release({ stated: this.#page.address });
  }
}

/** Reads a JSON document: the elements of its list, or the whole document. */
class JsonReader implements TextReader {
  readonly #json: JsonSplitter;
  readonly #isObject: boolean;
  #error: string | undefined;

  constructor(postings: PostingRecords, maxBytes: number, isObject: boolean) {
    this.#isObject = isObject;
    const take = (buffer: Buffer, start: number, end: number): void => {
      const text = buffer.subarray(start, end);
      const { records } = postings.counts;
      postings.take(text, this.#json.origin + start - (isObject ? 1 : 0));
      postings.release();
      if (postings.counts.records === records && text.length <= MAX_ERROR_BYTES) this.#error ??= errorIn(text);
    };
    const oversized = (head: Buffer, length: number): void => postings.takeOversized(head, length);
    const options = { recordPath: '', totalPaths: [], maxRecordBytes: maxBytes };
    this.#json = new JsonSplitter(options, { record: take, oversized });
    // A single object is read as a list of one.
    if (isObject) this.#json.push(Buffer.from('['));
  }

  get refusal(): string | undefined {
    return this.#json.refusal;
  }

  push(chunk: Buffer): void {
    this.#json.push(chunk);
  }

  finish(): TextsEnd {
    if (this.#isObject && this.refusal === undefined) this.#json.push(Buffer.from(']'));
    const { refusal, shortfalls } = this.#json.finish();
    const stated = this.#error === undefined ? [] : [this.#error];
    return { refusal, shortfalls: [...stated, ...shortfalls], lack: 'the document has no JobPosting' };
  }
}

function errorIn(text: Buffer): string | undefined {
  try {
    return statedErrorIn(JSON.parse(text.toString()));
  } catch {
    return undefined;
  }
}

// Makes records of the JobPostings in JSON-LD texts, and hands them over.

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
class PostingRecords {
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

// Finds the schema.org JobPostings in a JSON-LD text, wherever they are nested, by their extent.

/** A JobPosting; positions are bytes of the text. */
export interface PostingOfPage {
  readonly start: number;
  readonly end: number;
  /** The first text at its name `url`, at `validThrough`, and at `datePosted`. */
  readonly url: string | undefined;
  readonly validThrough: string | undefined;
  readonly datePosted: string | undefined;
}

/** Every form in which schema.org's types are written. */
const JOB_POSTING = /^(?:(?:https?:\/\/schema\.org\/|schema:)?JobPosting)$/;

/** Lists and objects around postings; no page nests them deeper. */
const MAX_DEPTH = 64;

/** What is read of a posting, besides its type. */
const NAMES = ['url', 'validThrough', 'datePosted'] as const;
type Name = (typeof NAMES)[number];
const TYPES = ['@type', 'type'] as const;
/** By the length of their text, which leaves out nearly all other names. */
const BY_LENGTH = new Map<number, Name | (typeof TYPES)[number]>(
  [...NAMES, ...TYPES].map((name) => [name.length, name]),
);
/** Of a name that is written with escapes only. */
const MAX_NAME_BYTES = 6 * Math.max(...BY_LENGTH.keys());

const [QUOTE, BACKSLASH, SPACE, COMMA, COLON] = [0x22, 0x5c, 0x20, 0x2c, 0x3a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Instead of a position: the text is not JSON here. */
const MISMATCH = -1;

/** Has no state between two values. */
const scanner = new ValueScanner();

/**
 * In document order; a posting inside another one belongs to that one. `undefined` if the strings or brackets of the
 * text do not match, or something follows. Other faults, such as a line break in a string, are found when the posting is parsed.
 */
function findPostings(json: Buffer): readonly PostingOfPage[] | undefined {
  const start = skip(json, 0);
  scanner.begin(start);
  if (scanner.scan(json) !== 'end' || !isClosing(json.toString('latin1', scanner.at))) return undefined;
  const visitor = new Visitor(json);
  return visitor.visit(start, 0) === MISMATCH || visitor.mismatches > 0 ? undefined : visitor.found;
}

/** Walks through a text once, whose strings and brackets match, and remembers nothing of what is no posting. */
class Visitor {
  readonly found: PostingOfPage[] = [];
  /** Values outside of postings that are not JSON. */
  mismatches = 0;
  readonly #json: Buffer;
  /** Whether the last string has an escape. */
  #hasEscape = false;

  constructor(json: Buffer) {
    this.#json = json;
  }

  /** Returns the end of the value that starts here, or `MISMATCH`. */
  visit(at: number, depth: number): number {
    switch (this.#json[at]) {
      case OPEN_OBJECT:
        return depth > MAX_DEPTH ? MISMATCH : this.#visitObject(at, depth);
      case OPEN_LIST:
        return depth > MAX_DEPTH ? MISMATCH : this.#visitList(at, depth);
      case QUOTE:
        return this.#endOfString(at);
      default:
        return this.#endOfLiteral(at);
    }
  }

  #visitList(list: number, depth: number): number {
    const json = this.#json;
    for (let at = skip(json, list + 1); at < json.length; at = skip(json, at)) {
      if (json[at] === CLOSE_LIST) return at + 1;
      at = this.#visitInner(at, depth);
      if (at === MISMATCH) return MISMATCH;
    }
    return MISMATCH;
  }

  #visitObject(object: number, depth: number): number {
    const json = this.#json;
    const before = { found: this.found.length, mismatches: this.mismatches };
    const texts: { [name in Name]?: Extent } = {};
    let isPosting = false;
    for (let at = skip(json, object + 1); at < json.length; at = skip(json, at)) {
      if (json[at] === CLOSE_OBJECT) {
        if (isPosting) this.#addPosting({ start: object, end: at + 1 }, texts, before);
        return at + 1;
      }
      if (json[at] !== QUOTE) return MISMATCH;
      const nameEnd = this.#endOfString(at);
      if (nameEnd === MISMATCH) return MISMATCH;
      const name = this.#nameIn({ start: at, end: nameEnd });
      const start = skip(json, nameEnd, COLON);
      at = this.#visitInner(start, depth);
      if (at === MISMATCH) return MISMATCH;
      const value = { start, end: at };
      if (name === '@type' || name === 'type') isPosting ||= isJobPosting(json, value);
      else if (name !== undefined) texts[name] ??= value;
    }
    return MISMATCH;
  }

  /** Returns the end of a list's element, or an object's value. One that is not JSON is passed over if it has brackets. */
  #visitInner(at: number, depth: number): number {
    const { mismatches } = this;
    const found = this.found.length;
    const end = this.visit(at, depth + 1);
    if (end !== MISMATCH || (this.#json[at] !== OPEN_OBJECT && this.#json[at] !== OPEN_LIST)) return end;
    this.found.length = found;
    this.mismatches = mismatches + 1;
    scanner.begin(at);
    return scanner.scan(this.#json) === 'end' ? scanner.at : MISMATCH;
  }

  /** What was found inside belongs to the posting. */
  #addPosting(
    extent: Extent,
    texts: { readonly [name in Name]?: Extent },
    before: { readonly found: number; readonly mismatches: number },
  ): void {
    this.found.length = before.found;
    this.mismatches = before.mismatches;
    const textOf = (name: Name) => firstText(this.#json, texts[name]);
    this.found.push({
      ...extent,
      url: textOf('url'),
      validThrough: textOf('validThrough'),
      datePosted: textOf('datePosted'),
    });
  }

  #endOfString(quote: number): number {
    const json = this.#json;
    this.#hasEscape = false;
    for (let at = quote + 1; at < json.length; at++) {
      if (json[at] === QUOTE) return at + 1;
      if (json[at] === BACKSLASH) {
        this.#hasEscape = true;
        at++;
      }
    }
    return MISMATCH;
  }

  #endOfLiteral(start: number): number {
    const json = this.#json;
    let at = start;
    while (at < json.length && !ENDS_LITERAL.has(json[at] as number) && (json[at] as number) > SPACE) at++;
    return at === start ? MISMATCH : at;
  }

  /** The name, if it is one of those that are read. */
  #nameIn({ start, end }: Extent): Name | (typeof TYPES)[number] | undefined {
    const length = end - start - 2;
    if (length > MAX_NAME_BYTES || (!this.#hasEscape && !BY_LENGTH.has(length))) return undefined;
    const json = this.#json;
    const text = this.#hasEscape ? parsed(json, { start, end }) : json.toString('latin1', start + 1, end - 1);
    const name = BY_LENGTH.get(text?.length ?? 0);
    return name === text ? name : undefined;
  }
}

const ENDS_LITERAL: ReadonlySet<number> = new Set([
  QUOTE,
  COMMA,
  COLON,
  CLOSE_OBJECT,
  CLOSE_LIST,
  OPEN_OBJECT,
  OPEN_LIST,
]);

interface Extent {
  readonly start: number;
  readonly end: number;
}

/** Moves over white space and this separator. */
function skip(json: Buffer, from: number, separator = COMMA): number {
  let at = from;
  while (at < json.length && ((json[at] as number) <= 0x20 || json[at] === separator)) at++;
  return at;
}

const isJobPosting = (json: Buffer, value: Extent): boolean =>
  textsOf(json, value).some((text) => JOB_POSTING.test(text));

const firstText = (json: Buffer, value: Extent | undefined): string | undefined =>
  value === undefined ? undefined : textsOf(json, value)[0]?.trim() || undefined;

/** The texts of a string, or of a list of strings. */
function textsOf(json: Buffer, value: Extent): readonly string[] {
  const first = json[value.start];
  // Longer lists of types do not exist.
  if ((first !== QUOTE && first !== OPEN_LIST) || value.end - value.start > 10_000) return [];
  return [parsed<unknown>(json, value)].flat().filter((text) => typeof text === 'string');
}

function parsed<Value = string>(json: Buffer, { start, end }: Extent): Value | undefined {
  try {
    return JSON.parse(json.toString('utf8', start, end)) as Value;
  } catch {
    return undefined;
  }
}
