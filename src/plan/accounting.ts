// Proves from the counts of a pull that no posting was lost on the way (docs/reliability.md, law 2).

/** What became of every record that a pull saw. */
export interface SeenCounts {
  readonly seen: number;
  readonly unchanged: number;
  readonly created: number;
  readonly updated: number;
  readonly rejected: number;
  readonly in_doubt: number;
  readonly pending: number;
  readonly failed: number;
  readonly duplicates: number;
  readonly unreadable: number;
  /** Records that are no postings, by a rule of the feed. */
  readonly skipped: number;
}

/** What became of every posting that a complete pull no longer saw. */
export interface GoneCounts {
  readonly gone: number;
  readonly deleted: number;
  readonly held: number;
  readonly grace: number;
  /** Kept live by a reviewer who discarded the delete. */
  readonly kept: number;
  readonly pendingDeletes: number;
  readonly failedDeletes: number;
}

/** Thrown when the counts do not add up: a bug in jobmirror, never a fault of the feed. */
export class AccountingError extends Error {
  override name = 'AccountingError';
}

/**
 * Checks both sums of law 2. Throws {@link AccountingError} with all numbers.
 * @param gone `undefined` for a feed that is not proven complete, in which no posting counts as gone.
 */
export function checkAccounts(seen: SeenCounts, gone: GoneCounts | undefined): void {
  const { seen: total, ...parts } = seen;
  const { gone: missing, ...ends } = gone ?? NOTHING_GONE;
  const problems = [unequal('seen', total, parts), unequal('gone', missing, ends)].filter((text) => text !== undefined);
  if (problems.length > 0) {
    throw new AccountingError(`the counts of the pull do not add up, please report this: ${problems.join('; ')}`);
  }
}

const NOTHING_GONE: GoneCounts = {
  gone: 0,
  deleted: 0,
  held: 0,
  grace: 0,
  kept: 0,
  pendingDeletes: 0,
  failedDeletes: 0,
};

function unequal(name: string, total: number, parts: Readonly<Record<string, number>>): string | undefined {
  const sum = Object.values(parts).reduce((a, b) => a + b, 0);
  if (sum === total) return undefined;
  const terms = Object.entries(parts).map(([part, count]) => `${part} ${count}`);
  return `${name} ${total} is not ${sum} (${terms.join(' + ')})`;
}
