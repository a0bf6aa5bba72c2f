// A growable byte buffer whose memory can be reused.

/** Appended data is in `bytes`. Full memory is doubled, which keeps appending cheap. */
export class GrowingBytes {
  #memory: Buffer;
  #view: DataView;
  #length: number;

  /** @param memory initial memory. @param length bytes of it already in use. */
  constructor(memory: Buffer, length = 0) {
    this.#memory = memory;
    this.#view = viewOf(memory);
    this.#length = length;
  }

  get length(): number {
    return this.#length;
  }

  /** The appended data; valid until the next change. */
  get bytes(): Buffer {
    return this.#memory.subarray(0, this.#length);
  }

  /** The whole memory, of which the first `length` bytes are in use. */
  get memory(): Buffer {
    return this.#memory;
  }

  /** The whole memory. Numbers are read and written faster here than by the methods of a buffer. */
  get view(): DataView {
    return this.#view;
  }

  /** Appends `source[from..to)` and returns its start position. */
  append(source: Buffer, from = 0, to = source.length): number {
    const at = this.extend(to - from);
    source.copy(this.#memory, at, from, to);
    return at;
  }

  /** Appends uninitialised bytes for the caller to write and returns their start position. */
  extend(by: number): number {
    const at = this.#length;
    this.#length += by;
    if (this.#length > this.#memory.length) this.#grow(at, this.#length * 2);
    return at;
  }

  /** Ensures that this many more bytes can be appended without growing. */
  reserve(bytes: number): void {
    if (this.#length + bytes > this.#memory.length) this.#grow(this.#length, this.#length + bytes);
  }

  /** Removes everything from this position on. */
  cutTo(length: number): void {
    this.#length = length;
  }

  /** Removes the first bytes. */
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
    this.#view = viewOf(grown);
  }
}

const viewOf = (memory: Buffer): DataView => new DataView(memory.buffer, memory.byteOffset, memory.length);
