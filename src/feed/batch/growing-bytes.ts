// Bytes that are put one behind the other, in memory that grows as it must and is used again.

/** What is appended stands in `bytes`; memory is doubled when it is full, so that appending costs little whatever comes. */
export class GrowingBytes {
  #memory: Buffer;
  #length: number;

  /** @param memory to begin with. @param length of it are in use already. */
  constructor(memory: Buffer, length = 0) {
    this.#memory = memory;
    this.#length = length;
  }

  get length(): number {
    return this.#length;
  }

  /** What was appended; valid until the next change. */
  get bytes(): Buffer {
    return this.#memory.subarray(0, this.#length);
  }

  /** All of the memory, of which the first `length` bytes are in use. */
  get memory(): Buffer {
    return this.#memory;
  }

  /** Appends `source[from..to)`, and says where it begins. */
  append(source: Buffer, from = 0, to = source.length): number {
    const at = this.extend(to - from);
    source.copy(this.#memory, at, from, to);
    return at;
  }

  /** Appends so many bytes that are still to be written, and says where they begin. */
  extend(by: number): number {
    const at = this.#length;
    this.#length += by;
    if (this.#length > this.#memory.length) this.#grow(at, this.#length * 2);
    return at;
  }

  /** Makes sure that so many bytes more can be appended without growing. */
  reserve(bytes: number): void {
    if (this.#length + bytes > this.#memory.length) this.#grow(this.#length, this.#length + bytes);
  }

  /** Takes away what stands from there on. */
  cutTo(length: number): void {
    this.#length = length;
  }

  /** Takes the first bytes away. */
  dropFirst(count: number): void {
    this.#memory.copyWithin(0, count, this.#length);
    this.#length -= count;
  }

  clear(): void {
    this.#length = 0;
  }

  #grow(kept: number, bytes: number): void {
    const grown = Buffer.allocUnsafeSlow(bytes);
    this.#memory.copy(grown, 0, 0, kept);
    this.#memory = grown;
  }
}
