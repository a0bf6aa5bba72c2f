// Counts the end tags of one name in bytes of which only the current ones are held, wherever they are, also in sections and quotes.
import { endsName } from './xml-bytes.ts';

export class EndTagCount {
  count = 0;
  /** Up to here all were counted; relative to the current bytes. */
  at = 0;
  #tag: Buffer = Buffer.alloc(0);

  begin(name: Uint8Array, at: number): void {
    this.count = 0;
    this.at = at;
    this.#tag = Buffer.concat([Buffer.from('</'), name]);
  }

  shift(by: number): void {
    this.at -= by;
  }

  /** Counts the tags whose names end before `to`. The bytes from `at` on are needed again, if more follow. */
  take(bytes: Buffer, to: number): void {
    const tag = this.#tag;
    for (let found = bytes.indexOf(tag, this.at); found >= 0; found = bytes.indexOf(tag, this.at)) {
      if (found + tag.length >= to) break;
      if (endsName(bytes[found + tag.length])) this.count++;
      this.at = found + tag.length;
    }
    this.at = Math.max(this.at, to - tag.length);
  }
}
