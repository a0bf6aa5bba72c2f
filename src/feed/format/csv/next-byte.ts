// Finds the next occurrence of one byte without searching any part twice.

export class NextByte {
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
