// Finds the lines on which the records of a document begin, while the document is split.

const LINE_FEED = 0x0a;

/** Takes positions in ascending order, as splitters hand over records. */
export class RecordLines {
  /** Positions of the line feeds after the last record, from `#next` on. */
  #breaks: number[] = [];
  #next = 0;
  #passed = 0;
  #length = 0;

  /** Takes the next bytes of the document. */
  add(chunk: Buffer): void {
    this.#breaks = this.#breaks.slice(this.#next);
    this.#next = 0;
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, at + 1)) {
      this.#breaks.push(this.#length + at);
    }
    this.#length += chunk.length;
  }

  /** The line of a position, from 1. */
  lineAt(position: number): number {
    while ((this.#breaks[this.#next] ?? Number.POSITIVE_INFINITY) < position) {
      this.#next++;
      this.#passed++;
    }
    return this.#passed + 1;
  }
}
