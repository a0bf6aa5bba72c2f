// The time by which one record is read, and what its conditions on dates make of it: since when, and until when.

/** When a feed is read, in milliseconds since 1970. The same for all of its documents, records and details. */
export interface ReadingTime {
  /** By the clock that all pulls share. */
  readonly now: number;
  /** By the clock of the source, if it told. */
  readonly source?: number;
}

/** Clocks that differ by less count as one. */
export const SAME_CLOCK_MS = 5 * 60_000;

/** Collects while one record is read. */
export class RecordDates {
  readonly now: number;
  /** By the source's clock, if that is another one. */
  readonly #source: number | undefined;
  /** When the last outcome began: that of the rule that skips the record, if it is skipped. `-Infinity`: no date decided. */
  since = Number.NEGATIVE_INFINITY;
  /** When the record may become something else without being changed; `Infinity`: never. */
  until = Number.POSITIVE_INFINITY;

  constructor({ now, source = now }: ReadingTime) {
    this.now = now;
    this.#source = Math.abs(source - now) < SAME_CLOCK_MS ? undefined : source;
  }

  /** The dates of the record by the source's clock; `undefined`: the clocks agree. */
  bySource(): RecordDates | undefined {
    return this.#source === undefined ? undefined : new RecordDates({ now: this.#source });
  }

  note({ since, until }: { readonly since: number; readonly until: number }): void {
    this.since = since;
    this.until = Math.min(this.until, until);
  }
}
