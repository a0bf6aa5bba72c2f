// Keeps a secret text out of every log, error, page and JSON document: it is only seen by who asks for it by name.
import { inspect } from 'node:util';

const MASK = '[secret]';

/** A token, password or header. Prints as `[secret]` wherever it is turned into text by accident. */
export class Secret {
  // A private field, not a property: no serialiser, deep comparison or debugger dump walks into it.
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The secret itself. Call it where it is sent, and keep the result in no variable that lives on. */
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
