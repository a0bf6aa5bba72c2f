// Wraps a secret text to keep it out of logs, errors, pages and JSON: only an explicit `reveal()` returns it.
import { inspect } from 'node:util';
import { type Complaint, ConfigError } from './config-error.ts';

const MASK = '[secret]';

/** A token, password or header. Prints as `[secret]` wherever it is turned into text by accident. */
export class Secret {
  // A #private field, because serialisers, deep comparisons and dumps would read a property.
  readonly #text: string | undefined;
  /** Why this process does not have it. */
  readonly absence: Complaint | undefined;

  constructor(text: string | Complaint) {
    this.#text = typeof text === 'string' ? text : undefined;
    this.absence = typeof text === 'string' ? undefined : text;
  }

  /**
   * The secret itself. Call this where it is sent, and do not keep the result in a long-lived variable.
   * @throws {ConfigError} if this process does not have it
   */
  reveal(): string {
    if (this.#text !== undefined) return this.#text;
    throw new ConfigError(this.absence === undefined ? [] : [this.absence]);
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
