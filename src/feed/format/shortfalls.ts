// Collects the reasons why a document is incomplete, without repeats and without limitless memory.

const MAX_SHORTFALLS = 20;

export class Shortfalls {
  readonly #texts = new Set<string>();

  note(shortfall: string): void {
    if (this.#texts.size < MAX_SHORTFALLS) this.#texts.add(shortfall);
  }

  all(): readonly string[] {
    return [...this.#texts];
  }
}
