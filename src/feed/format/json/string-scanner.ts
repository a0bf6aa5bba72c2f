// Finds the quote that ends a JSON string: four bytes at a time, as most strings are short, and natively in long ones.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const QUOTES = 0x22222222;
const BACKSLASHES = 0x5c5c5c5c;
const LOW_BITS = 0x01010101;
const HIGH_BITS = 0x80808080;

const WORD_BYTES = 4;
/** A native search costs about as much to call as this many bytes here. */
const SHORT_BYTES = 64;

export class StringScanner {
  /** Where to continue if the quote is not in the bytes. */
  next = 0;
  #bytes: Buffer | undefined;
  #words: DataView = new DataView(new ArrayBuffer(0));

  /** Searches from `from`, inside a string and not inside an escape. Returns the position behind the quote, or -1. */
  findEnd(bytes: Buffer, from: number): number {
    const words = this.#wordsOf(bytes);
    const end = bytes.length;
    const last = Math.min(end - WORD_BYTES, from + SHORT_BYTES);
    let at = from;
    while (at <= last) {
      const word = words.getInt32(at, true);
      // A byte that equals becomes 0; subtracting 1 sets its highest bit, and the lowest such bit is always a right one.
      const quotes = word ^ QUOTES;
      const backslashes = word ^ BACKSLASHES;
      const found = (((quotes - LOW_BITS) & ~quotes) | ((backslashes - LOW_BITS) & ~backslashes)) & HIGH_BITS;
      if (found === 0) {
        at += WORD_BYTES;
        continue;
      }
      at += 3 - (Math.clz32(found & -found) >> 3);
      if (bytes[at] === QUOTE) return at + 1;
      at += 2;
    }
    // An escape may begin with the last byte: its second byte is still to come.
    if (at > end) at = end - 1;
    else if (at < end) {
      for (let quote = bytes.indexOf(QUOTE, at); quote >= 0; quote = bytes.indexOf(QUOTE, at)) {
        if (backslashesBefore(bytes, quote, at) % 2 === 0) return quote + 1;
        at = quote + 1;
      }
      at = end - (backslashesBefore(bytes, end, at) % 2);
    }
    this.next = at;
    return -1;
  }

  #wordsOf(bytes: Buffer): DataView {
    if (bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    }
    return this.#words;
  }
}

function backslashesBefore(bytes: Buffer, at: number, from: number): number {
  let first = at;
  while (first > from && bytes[first - 1] === BACKSLASH) first--;
  return at - first;
}
