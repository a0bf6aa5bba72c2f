// Writes texts one behind the other as UTF-8, into memory that is there already.

/** Each call of the runtime has its price, so shorter texts are joined before they are written; joining longer ones costs more. */
const LONG = 256;

/** Bytes that a text takes at most: UTF-8 has up to three for each of JavaScript's characters. */
export const mostUtf8Bytes = (text: string): number => 3 * text.length;

/**
 * One stretch of texts. The memory must have room for all of them, {@link mostUtf8Bytes} each: what does not fit is lost.
 * The texts hold no lone surrogates, which UTF-8 can't carry.
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

  /** Writes the rest, and gives where it ends. Nothing is written afterwards. */
  end(): number {
    this.#put(this.#joined);
    return this.#at;
  }

  #put(text: string): void {
    if (text !== '') this.#at += this.#memory.write(text, this.#at);
  }
}
