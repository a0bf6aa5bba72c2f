// Finds the end of a JSON value in chunks of any size, without parsing it, and notices when strings cannot be where they
// seem to be.
import { StringScanner } from './string-scanner.ts';
import {
  ACTION,
  AFTER_DEEP_OPENING,
  afterClosing,
  CLOSE,
  containerOf,
  END,
  FAULT,
  KIND_OF,
  NONE,
  OPEN,
  START,
  STEPS,
  STRING,
  UNKNOWN,
} from './value-steps.ts';

/** Brackets are matched by their kind down to this depth; no record nests deeper. */
const MATCHED_DEPTH = 1_024;

/** `end`: `at` is behind the value. `more`: its end is not in these bytes. `fault`: the byte at `at` is impossible. */
export type ScanEnd = 'end' | 'more' | 'fault';

/** Positions are relative to the current bytes. */
export class ValueScanner {
  /** The next byte to scan. */
  at = 0;
  #depth = 0;
  #state = START;
  #inString = false;
  readonly #strings = new StringScanner();
  /** What is open at each depth, from 1. */
  readonly #containers = new Uint8Array(MATCHED_DEPTH + 1).fill(NONE);

  /** Starts at the first byte of a value. */
  begin(at: number): void {
    this.at = at;
    this.#depth = 0;
    this.#state = START;
    this.#inString = false;
  }

  shift(by: number): void {
    this.at -= by;
  }

  scan(bytes: Buffer): ScanEnd {
    if (this.#inString) {
      if (!this.#leaveString(bytes, this.at)) return 'more';
      if (this.#depth === 0) return 'end';
    }
    const end = bytes.length;
    let state = this.#state;
    for (let at = this.at; at < end; at++) {
      const step = STEPS[state | (KIND_OF[bytes[at] as number] as number)] as number;
      state = step & ~ACTION;
      switch (step & ACTION) {
        case 0:
          break;
        case STRING:
          this.#state = state;
          if (!this.#leaveString(bytes, at + 1)) return 'more';
          if (this.#depth === 0) return 'end';
          at = this.at - 1;
          break;
        case OPEN:
          this.#depth++;
          if (this.#depth > MATCHED_DEPTH) state = AFTER_DEEP_OPENING;
          else this.#containers[this.#depth] = containerOf(state);
          break;
        case CLOSE:
          this.#depth--;
          if (this.#depth === 0) return this.#stop(at + 1, 'end');
          state = afterClosing(this.#depth > MATCHED_DEPTH ? UNKNOWN : (this.#containers[this.#depth] as number));
          break;
        case END:
          return this.#stop(at, 'end');
        case FAULT:
          return this.#stop(at, 'fault');
      }
    }
    this.#state = state;
    return this.#stop(end, 'more');
  }

  #stop(at: number, result: ScanEnd): ScanEnd {
    this.at = at;
    return result;
  }

  /** Moves behind the quote that ends the string. False: it is not in these bytes. */
  #leaveString(bytes: Buffer, from: number): boolean {
    const behind = this.#strings.findEnd(bytes, from);
    this.#inString = behind < 0;
    this.at = behind < 0 ? this.#strings.next : behind;
    return behind >= 0;
  }
}
