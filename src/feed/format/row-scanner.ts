// Finds where a row of a table ends, in bytes that may arrive in pieces. A quote opens a cell only as its first character,
// as spreadsheets read it.
import { DELIMITERS } from './format.ts';

// Finds the next occurrence of one byte without searching any part twice.
class NextByte {
  readonly #byte: number;
  #found = -1;
  /** There is none from the position of the last search up to here. */
  #searched = 0;

  constructor(byte: number) {
    this.#byte = byte;
  }

  /** The first occurrence at or after `from`, which never decreases between resets; -1 if these bytes have none. */
  find(bytes: Buffer, from: number): number {
    if (this.#found >= from) return this.#found;
    const found = bytes.indexOf(this.#byte, Math.max(from, this.#searched));
    if (found >= 0) this.#found = found;
    this.#searched = found < 0 ? bytes.length : found;
    return found;
  }

  /** Forgets what was found, to search from an earlier position. */
  reset(): void {
    this.#found = -1;
    this.#searched = 0;
  }

  shift(by: number): void {
    this.#found -= by;
    this.#searched = Math.max(0, this.#searched - by);
  }
}

export const [LF, CR, QUOTE] = [0x0a, 0x0d, 0x22];
const CANDIDATES: readonly number[] = DELIMITERS.map((delimiter) => delimiter.charCodeAt(0));

type RowEnd =
  /** The row ends before `endAt`; the next one begins at `at`. */
  | 'end'
  | 'more'
  /** At `at`, a quote inside quotes is neither doubled nor the end of its cell. */
  | 'fault';

interface RowScannerOptions {
  /** Unknown while the rows up to the header are read: then every usual delimiter counts. */
  readonly delimiter?: number;
  /** Take a quote that does not end its cell for text. */
  readonly lenient?: boolean;
}

export class RowScanner {
  /** Where the scan continues. */
  at = 0;
  /** Where the content of the row ends. */
  endAt = 0;
  /** Known from the first line end outside quotes; CR only if no LF follows it. */
  lineEnd: typeof LF | typeof CR | undefined;
  delimiter: number | undefined;
  readonly #lenient: boolean;
  readonly #quotes = new NextByte(QUOTE);
  readonly #feeds = new NextByte(LF);
  readonly #returns = new NextByte(CR);
  #start = 0;
  #inQuotes = false;

  constructor({ delimiter, lenient = false }: RowScannerOptions = {}) {
    this.delimiter = delimiter;
    this.#lenient = lenient;
  }

  /** Begins a row, perhaps one that was scanned before. */
  begin(at: number): void {
    if (at < this.at) for (const search of [this.#quotes, this.#feeds, this.#returns]) search.reset();
    this.at = at;
    this.#start = at;
    this.#inQuotes = false;
  }

  shift(by: number): void {
    this.at -= by;
    this.#start -= by;
    this.#quotes.shift(by);
    this.#feeds.shift(by);
    this.#returns.shift(by);
  }

  /** Scans as far as the bytes allow. Each byte before `at` but the last one is not needed again for the scan. */
  scan(bytes: Buffer): RowEnd {
    for (;;) {
      if (this.#inQuotes) {
        const end = this.#leaveQuotes(bytes);
        if (end !== 'left') return end;
      }
      const line = this.#nextLineEnd(bytes);
      if (line === 'more') return 'more';
      const quote = this.#quotes.find(bytes, this.at);
      if (quote >= 0 && (line < 0 || quote < line)) {
        this.#inQuotes = quote === this.#start || this.#isDelimiter(bytes[quote - 1]);
        this.at = quote + 1;
      } else if (line >= 0) {
        this.endAt = this.lineEnd === LF && line > this.#start && bytes[line - 1] === CR ? line - 1 : line;
        this.at = line + 1;
        return 'end';
      } else {
        this.at = bytes.length;
        return 'more';
      }
    }
  }

  /** The end of the last row, if these bytes, which were scanned, are the last ones; `undefined`: they end inside quotes. */
  endOfLast(bytes: Buffer): { readonly endAt: number; readonly hasLineEnd: boolean } | undefined {
    if (this.#inQuotes && bytes[this.at] !== QUOTE) return undefined;
    const hasReturn = bytes.length > this.#start && bytes[bytes.length - 1] === CR;
    // Only the byte after it would have told that CR ends the lines.
    const hasLineEnd = hasReturn && this.lineEnd === undefined;
    return { endAt: hasReturn ? bytes.length - 1 : bytes.length, hasLineEnd };
  }

  #nextLineEnd(bytes: Buffer): number | 'more' {
    if (this.lineEnd !== undefined) return (this.lineEnd === LF ? this.#feeds : this.#returns).find(bytes, this.at);
    const feed = this.#feeds.find(bytes, this.at);
    const before = this.#returns.find(bytes, this.at);
    const quote = this.#quotes.find(bytes, this.at);
    const isNext = (at: number): boolean => at >= 0 && (quote < 0 || at < quote);
    if (!isNext(feed) && !isNext(before)) return -1;
    if (before < 0 || (feed >= 0 && feed < before + 2)) {
      this.lineEnd = LF;
      return feed;
    }
    if (before + 1 === bytes.length) {
      this.at = before;
      return 'more';
    }
    this.lineEnd = CR;
    return before;
  }

  #leaveQuotes(bytes: Buffer): 'left' | 'more' | 'fault' {
    for (;;) {
      const quote = this.#quotes.find(bytes, this.at);
      if (quote < 0) {
        this.at = bytes.length;
        return 'more';
      }
      this.at = quote;
      const next = bytes[quote + 1];
      if (next === undefined || (next === CR && this.lineEnd !== CR && quote + 2 === bytes.length)) return 'more';
      if (next === QUOTE) {
        this.at = quote + 2;
      } else if (this.#isDelimiter(next) || this.#isLineEnd(bytes, quote + 1)) {
        this.at = quote + 1;
        this.#inQuotes = false;
        return 'left';
      } else if (this.#lenient) {
        this.at = quote + 1;
      } else {
        return 'fault';
      }
    }
  }

  #isLineEnd(bytes: Buffer, at: number): boolean {
    if (bytes[at] === CR) return this.lineEnd !== LF || bytes[at + 1] === LF;
    return bytes[at] === LF && this.lineEnd !== CR;
  }

  #isDelimiter(byte: number | undefined): boolean {
    if (this.delimiter !== undefined) return byte === this.delimiter;
    return byte !== undefined && CANDIDATES.includes(byte);
  }
}
