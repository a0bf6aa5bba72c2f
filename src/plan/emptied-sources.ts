// Finds the sources of a feed, or the files of one, that had records and have none now: that is more often a fault of the source than the truth.

/** A source of a feed, or a file of one. */
export interface SourceRecords {
  /** Where it is, for people: the same at each reading. */
  readonly source: string;
  readonly records: number;
}

export interface ComparedSources {
  /** Those with records now, and those that had records when the feed was last read and are empty, or replaced by empty ones. */
  readonly filled: readonly string[];
  readonly emptied: readonly string[];
  /** `gone`: it is not there any more, nor is another one in its place. */
  stateOf(source: string): 'filled' | 'empty' | 'gone';
  /** For people. */
  nameOf(source: string): string;
}

/**
 * | the source, which had records   | it counts as                                            |
 * | ------------------------------- | ------------------------------------------------------- |
 * | has records                     | filled                                                  |
 * | has none                        | emptied                                                 |
 * | is replaced by other files that differ only in numbers, such as a date | filled if one of them has records, otherwise emptied |
 * | is gone                         | neither: it was removed                                 |
 *
 * @param before those with records when the feed was last read; `undefined`: not known
 */
export function compareSources(before: readonly string[] = [], now: readonly SourceRecords[]): ComparedSources {
  const own = new Map(now.map(({ source, records }) => [source, records > 0]));
  const alike = new Map<string, { readonly source: string; readonly isFilled: boolean }>();
  for (const { source, records } of now) {
    const form = formOf(source);
    if (records > 0 || !alike.has(form)) alike.set(form, { source, isFilled: records > 0 });
  }
  const stateOf = (source: string) => {
    const isFilled = own.get(source) ?? alike.get(formOf(source))?.isFilled;
    return isFilled === undefined ? 'gone' : isFilled ? 'filled' : 'empty';
  };
  return {
    filled: now.filter(({ records }) => records > 0).map(({ source }) => source),
    emptied: before.filter((source) => stateOf(source) === 'empty'),
    stateOf,
    nameOf(source) {
      const other = own.has(source) ? undefined : alike.get(formOf(source))?.source;
      return other === undefined ? source : `${source} (now ${other})`;
    },
  };
}

/** An address changes only in the configuration. */
const formOf = (source: string): string => (/^https?:[^,]*$/.test(source) ? source : source.replace(/\d+/g, '#'));

/** A feed with more sources is compared only in these. */
const MOST_COMPARED = 10_000;

/**
 * The sources with records that the next pull compares with; `undefined`: those that are stored. Whoever knows only one source of a feed
 * has nothing to compare.
 * @param isOpen whether deletes that may follow from the emptied ones wait, so that the next pull must find them emptied, too
 */
export function nextFilled(
  before: readonly string[] | undefined,
  now: readonly SourceRecords[],
  isComplete: boolean,
  isOpen: boolean,
): readonly string[] | undefined {
  if (before === undefined && now.length < 2) return undefined;
  const { filled, emptied } = compareSources(before, now);
  const kept = !isComplete ? (before ?? []) : isOpen ? emptied : [];
  const next = [...new Set([...filled, ...kept])].sort().slice(0, MOST_COMPARED);
  return JSON.stringify(next) === JSON.stringify(before) ? undefined : next;
}
