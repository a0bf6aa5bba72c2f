// Turns chunks of any size into runs of bytes in which a scanner finds whole what it could not finish, copying little.

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
  #hold: Buffer = Buffer.alloc(0);
  #length = 0;

  /** The bytes that are held now; valid until the next `push`. */
  get held(): Buffer {
    return this.#hold.subarray(0, this.#length);
  }

  /** Lets the scanner see the next chunk, after what it still needs of the ones before. The chunk may be reused afterwards. */
  push(chunk: Buffer, scanner: Scanner): void {
    let taken = 0;
    while (this.#length > 0 && taken < chunk.length) {
      const held = this.#length;
      this.#append(chunk.subarray(taken, taken + JOIN_BYTES));
      const needed = scanner.scan(this.held);
      if (needed >= held) {
        // Nothing of the earlier chunks is needed any more: go on in the chunk itself.
        scanner.shift(held - taken);
        this.#length = 0;
      } else {
        taken += this.#length - held;
        this.#hold.copyWithin(0, needed, this.#length);
        this.#length -= needed;
        scanner.shift(needed);
      }
    }
    if (this.#length > 0) return;
    const needed = scanner.scan(chunk);
    this.#append(chunk.subarray(needed));
    scanner.shift(needed);
  }

  #append(piece: Buffer): void {
    const length = this.#length + piece.length;
    if (length > this.#hold.length) {
      const grown = Buffer.allocUnsafe(Math.max(length * 2, 4 * JOIN_BYTES));
      this.#hold.copy(grown, 0, 0, this.#length);
      this.#hold = grown;
    }
    piece.copy(this.#hold, this.#length);
    this.#length = length;
  }
}
