// Writes texts one after another as UTF-8 into existing memory.

/** Shorter texts are joined before writing because each native call has a cost; joining longer ones would cost more. */
const LONG = 256;

/** Upper bound for a text's UTF-8 bytes: three per UTF-16 code unit. */
export const mostUtf8Bytes = (text: string): number => 3 * text.length;

/**
 * Writes one run of texts. The memory must have room for {@link mostUtf8Bytes} of each: what does not fit is lost. The
 * texts must not contain lone surrogates, which UTF-8 can't carry.
 */
export class Utf8Writer {
  readonly #memory: Buffer;
  #at: number;
  #joined = '';

  constructor(memory: Buffer, start: number) {
    this.#memory = memory;
    this.#at = start;
  }

  write(text: string): void {
    if (text.length < LONG) {
      this.#joined += text;
    } else {
      this.#put(this.#joined);
      this.#joined = '';
      this.#put(text);
    }
  }

  /** Writes the rest and returns the end position. Must be the last call. */
  end(): number {
    this.#put(this.#joined);
    return this.#at;
  }

  #put(text: string): void {
    if (text !== '') this.#at += this.#memory.write(text, this.#at);
  }
}
