// Turns chunks of any size into runs of bytes in which a scanner finds whole what it could not finish, copying little.
import { GrowingBytes } from '../../batch/growing-bytes.ts';

/** Scans bytes and remembers how far it came; positions count from the start of the bytes that it is given. */
export interface Scanner {
  /** Goes as far as the bytes allow; returns the position from which on it needs them again. */
  scan(bytes: Buffer): number;
  /** From now on positions count from `by` bytes further on. */
  shift(by: number): void;
}

/** What is held and what follows are joined in steps of this size: a record that spans two chunks is mostly shorter. */
const JOIN_BYTES = 8_192;

/** Holds what a scanner still needs of earlier chunks. */
export class ChunkJoiner {
  readonly #hold = new GrowingBytes(Buffer.allocUnsafeSlow(4 * JOIN_BYTES));

  /** The bytes that are held now; valid until the next `push`. */
  get held(): Buffer {
    return this.#hold.bytes;
  }

  /** Lets the scanner see the next chunk, after what it still needs of the ones before. The chunk may be reused afterwards. */
  push(chunk: Buffer, scanner: Scanner): void {
    let taken = 0;
    while (this.#hold.length > 0 && taken < chunk.length) {
      const held = this.#hold.length;
      this.#hold.append(chunk, taken, Math.min(taken + JOIN_BYTES, chunk.length));
      const needed = scanner.scan(this.held);
      if (needed >= held) {
        // Nothing of the earlier chunks is needed any more: go on in the chunk itself.
        scanner.shift(held - taken);
        this.#hold.clear();
      } else {
        taken += this.#hold.length - held;
        this.#hold.dropFirst(needed);
        scanner.shift(needed);
      }
    }
    if (this.#hold.length > 0) return;
    const needed = scanner.scan(chunk);
    this.#hold.append(chunk, needed);
    scanner.shift(needed);
  }
}
