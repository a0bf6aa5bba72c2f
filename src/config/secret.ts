// Wraps a secret text to keep it out of logs, errors, pages and JSON: only an explicit `reveal()` returns it.
import { inspect } from 'node:util';

const MASK = '[secret]';

/** A token, password or header. Prints as `[secret]` wherever it is turned into text by accident. */
export class Secret {
  // A #private field, because serialisers, deep comparisons and dumps would read a property.
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The secret itself. Call this where it is sent, and do not keep the result in a long-lived variable. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}
