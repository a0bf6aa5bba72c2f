// The format of documents with one JSON value per line (JSON Lines, also known as newline-delimited JSON): splits them
// into their lines.
import { ScanningSplitter } from './chunk-joiner.ts';
import type { FeedFormat, SplitEnd } from './format.ts';
import { jsonFormat, parseJson } from './json-format.ts';
import { refusalOf } from './unexpected-document.ts';

export const jsonLinesFormat: FeedFormat = {
  ...jsonFormat,
  createSplitter: (options, sink) => new JsonLinesSplitter(options, sink),
};

// Splits the UTF-8 bytes of a document with one JSON value per line, in chunks of any size, into its lines.
const [LF, CR, SPACE, TAB] = [0x0a, 0x0d, 0x20, 0x09];

/** No JSON string contains a line break, so every line is a record, whatever is wrong with the others. */
class JsonLinesSplitter extends ScanningSplitter {
  refusal: string | undefined;
  #at = 0;
  #lineStart = 0;
  #isFirst = true;

  finish(isEndProven: boolean): SplitEnd {
    const { held } = this.joiner;
    const shortfalls: string[] = [];
    if (this.refusal === undefined && !this.#isBlank(held, held.length)) {
      // A value in brackets shows its own end.
      if (isEndProven || (!this.handOver.isOversized && parseJson(held.subarray(this.#lineStart)).kind === 'tree')) {
        this.#takeLine(held, held.length);
      } else {
        shortfalls.push(`the document ends inside record ${this.records + 1}`);
      }
    }
    if (this.#isFirst && shortfalls.length === 0) this.refusal ??= 'the feed is empty: it has no JSON value';
    const { records, oversizedRecords } = this.handOver;
    return { records, oversizedRecords, refusal: this.refusal, shortfalls, isOpen: true };
  }

  shift(by: number): void {
    this.#at -= by;
    this.#lineStart -= by;
  }

  scan(bytes: Buffer): number {
    while (this.refusal === undefined) {
      const end = bytes.indexOf(LF, this.#at);
      if (end < 0) {
        this.#at = bytes.length;
        if (this.handOver.mustKeep(bytes, this.#lineStart)) return this.#lineStart;
        this.handOver.keepHead(bytes, this.#lineStart);
        return this.#at;
      }
      if (!this.#isBlank(bytes, end)) this.#takeLine(bytes, end);
      this.#at = end + 1;
      this.#lineStart = end + 1;
    }
    return bytes.length;
  }

  #takeLine(bytes: Buffer, end: number): void {
    if (this.#isFirst && !this.handOver.isOversized) this.#checkFirst(bytes.subarray(this.#lineStart, end));
    this.#isFirst = false;
    if (this.refusal === undefined) this.handOver.end(bytes, this.#lineStart, end);
  }

  /** Whether the line has nothing but white space. */
  #isBlank(bytes: Buffer, end: number): boolean {
    if (this.handOver.isOversized) return false;
    for (let at = this.#lineStart; at < end; at++) {
      const byte = bytes[at];
      if (byte !== SPACE && byte !== TAB && byte !== CR) return false;
    }
    return true;
  }

  #checkFirst(line: Buffer): void {
    const text = line.toString().trim();
    if (text === '{' || text.startsWith('[')) {
      this.refusal = 'this is a JSON document, not one JSON value per line; configure type: json, and records';
    } else if (!text.startsWith('{')) {
      this.refusal = refusalOf('JSON Lines', line);
    }
  }
}
