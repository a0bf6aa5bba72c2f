// Decides which details are still requested while one after another fails: a few at random, so that a source in trouble is
// spared, and so that no posting waits forever behind others whose details always fail.

/** Failures in a row before details are only sampled. */
export const FAILURES_IN_A_ROW = 10;
const MOST_LEFT_OUT = 1_000;

export class Sampling {
  readonly #random: () => number;
  #failures = 0;
  #leaveOut = 0;

  /** @param random in [0, 1). */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Whether so many have failed that others fail, too. */
  get isInTrouble(): boolean {
    return this.#failures >= FAILURES_IN_A_ROW;
  }

  /** Whether to request the next detail. */
  takes(): boolean {
    if (this.#leaveOut === 0) return true;
    this.#leaveOut--;
    return false;
  }

  succeed(): void {
    this.#failures = 0;
    this.#leaveOut = 0;
  }

  fail(): void {
    this.#failures++;
    if (!this.isInTrouble) return;
    const most = Math.min(2 ** (this.#failures - FAILURES_IN_A_ROW + 1), MOST_LEFT_OUT);
    this.#leaveOut = 1 + Math.floor(this.#random() * most);
  }
}
