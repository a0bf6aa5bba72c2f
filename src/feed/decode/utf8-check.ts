// Checks a stream of bytes for valid UTF-8 (RFC 3629, section 4), with a fast path for ASCII.
// Not `isUtf8` of Node.js: it can't continue a character in the next chunk.
import { isAscii } from 'node:buffer';

export const UNDECODABLE_OUTSIDE =
  'bytes outside the records are not valid in the encoding of the feed and may have been part of a record; ' +
  'if the feed is really in another encoding, such as Windows-1252, configure encoding: windows-1252';

/** From this length on, the native check is worth its call overhead. */
const NATIVE_FROM_BYTES = 64;

export class Utf8Check {
  /** Whether anything was invalid. */
  broken = false;
  /** Bytes that the current character still needs, and the range of the next one. */
  #needed = 0;
  #least = 0x80;
  #most = 0xbf;

  /** Checks the next bytes. */
  take(bytes: Buffer, from: number, to: number): void {
    if (this.#needed === 0 && to - from >= NATIVE_FROM_BYTES && isAscii(bytes.subarray(from, to))) return;
    for (let at = from; at < to; at++) {
      const byte = bytes[at] as number;
      if (this.#needed > 0) this.#continue(byte);
      else if (byte >= 0x80) this.#begin(byte);
    }
  }

  /** Requires a complete character here. */
  end(): void {
    if (this.#needed > 0) this.broken = true;
    this.#needed = 0;
  }

  #begin(byte: number): void {
    [this.#least, this.#most] = [0x80, 0xbf];
    if (byte >= 0xc2 && byte <= 0xdf) {
      this.#needed = 1;
    } else if (byte >= 0xe0 && byte <= 0xef) {
      this.#needed = 2;
      if (byte === 0xe0) this.#least = 0xa0;
      if (byte === 0xed) this.#most = 0x9f;
    } else if (byte >= 0xf0 && byte <= 0xf4) {
      this.#needed = 3;
      if (byte === 0xf0) this.#least = 0x90;
      if (byte === 0xf4) this.#most = 0x8f;
    } else {
      this.broken = true;
    }
  }

  #continue(byte: number): void {
    if (byte < this.#least || byte > this.#most) {
      this.broken = true;
      this.#needed = 0;
      return;
    }
    this.#needed--;
    [this.#least, this.#most] = [0x80, 0xbf];
  }
}
