// The format of schema.org JobPostings: splits JSON-LD in HTML pages, or in JSON documents, into its postings.

import { OVERSIZED_HEAD_BYTES } from '../chunk-joiner.ts';
import type { FeedFormat, SplitEnd, SplitOptions, SplitSink, Splitter } from '../format.ts';
import { type Attributes, OpeningSearch, PageReader, type PageSink } from '../html/html-format.ts';
import { jsonFormat } from '../json/json-format.ts';
import { JsonSplitter } from '../json/json-splitter.ts';
import { isErrorName, OPENING_BYTES, refusalOf, statedErrorIn } from '../unexpected-document.ts';
import { PostingRecords } from './posting-records.ts';

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

/** The name of the first element. */
const FIRST_ELEMENT = /^\s*(<\?xml[^>]*>)?(?:\s|<!--[\s\S]*?-->)*<(?:[^\s<>/:!]+:)?([^\s<>/:!]+)/;

const [OPEN_OBJECT, OPEN_LIST, SPACE] = [0x7b, 0x5b, 0x20];

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
