// Finds the sources of a feed, or the files of one, that had records and have none now, or were removed with their postings. Mostly the source is at
// fault, and the postings are not gone.
import type { DeleteGuard } from './delete-guard.ts';

/** A source of a feed, or a file of one. */
export interface SourceRecords {
  /** Where it is, for people: the same at each reading. */
  readonly source: string;
  readonly records: number;
}

/** How many records each source with records had when the feed was last read. */
export type FilledSources = Readonly<Record<string, number>>;

export interface ComparedSources {
  /**
   * Those that had records when the feed was last read and are empty, replaced by empty ones, or removed; none if they had too few to be a sign.
   * @param missing how many postings are missing from the feed
   */
  emptied(missing: number): readonly string[];
  /** `removed`: it is no longer among the files that it was one of. `gone`: neither are those; they may be no longer configured. */
  stateOf(source: string): 'filled' | 'empty' | 'removed' | 'gone';
  /** For people. */
  nameOf(source: string): string;
}

/**
 * | the source, which had records   | it counts as                                            |
 * | ------------------------------- | ------------------------------------------------------- |
 * | has records                     | filled                                                  |
 * | has none                        | emptied                                                 |
 * | is replaced by other files that differ only in numbers, such as a date | filled if one of them has records, otherwise emptied |
 * | is no longer among other files  | emptied, if half as many postings are missing as it had records: others have the postings of a file that is renamed. Neither, if it had few: each posting may have a file |
 * | is gone with those              | neither: it is no longer configured                     |
 *
 * @param before `undefined`: not known
 * @param count how many deletes a day are never too many, see `DeleteGuard`
 */
export function compareSources(
  before: FilledSources = {},
  now: readonly SourceRecords[],
  { count }: Pick<DeleteGuard, 'count'>,
): ComparedSources {
  const own = new Map(now.map(({ source, records }) => [source, records > 0]));
  const alike = new Map<string, { readonly source: string; readonly isFilled: boolean }>();
  for (const { source, records } of now) {
    const form = formOf(source);
    if (records > 0 || !alike.has(form)) alike.set(form, { source, isFilled: records > 0 });
  }
  const places = new Set(now.flatMap(({ source }) => placesOf(source)));
  const stateOf = (source: string) => {
    const isFilled = own.get(source) ?? alike.get(formOf(source))?.isFilled;
    if (isFilled !== undefined) return isFilled ? 'filled' : 'empty';
    return placesOf(source).some((place) => places.has(place)) ? 'removed' : 'gone';
  };
  const inState = (state: 'empty' | 'removed') => Object.keys(before).filter((source) => stateOf(source) === state);
  const recordsOf = (sources: readonly string[]) => sources.reduce((sum, source) => sum + (before[source] ?? 0), 0);
  const few = Math.min(FEW_RECORDS, count);
  const empty = inState('empty');
  const removed = inState('removed').filter((source) => (before[source] ?? 0) > few);
  return {
    emptied(missing) {
      const sources = missing * 2 < recordsOf(removed) ? empty : [...empty, ...removed];
      return recordsOf(sources) > few ? sources : [];
    },
    stateOf,
    nameOf(source) {
      if (stateOf(source) === 'removed') return `${source} (no longer there)`;
      const other = own.has(source) ? undefined : alike.get(formOf(source))?.source;
      return other === undefined ? source : `${source} (now ${other})`;
    },
  };
}

/** The folder and the archive that a file is in. */
const placesOf = (source: string): string[] => [...source.matchAll(/, /g)].map(({ index }) => source.slice(0, index));

/** An address changes only in the configuration. */
const formOf = (source: string): string => (/^https?:[^,]*$/.test(source) ? source : source.replace(/\d+/g, '#'));

/** That the last ones of a source are gone is common. */
const FEW_RECORDS = 2;

/** A feed with more sources is compared only in these. */
const MOST_COMPARED = 10_000;

/**
 * What the next pull compares with; `undefined`: what is stored. Whoever knows only one source of a feed has nothing to compare.
 * @param kept sources that keep at least their former number of records: empty ones whose deletes wait; all if the reading was not complete
 */
export function nextFilled(
  before: FilledSources | undefined,
  now: readonly SourceRecords[],
  kept: readonly string[],
): FilledSources | undefined {
  if (before === undefined && now.length < 2) return undefined;
  const next = new Map(kept.map((source) => [source, before?.[source] ?? 0]));
  for (const { source, records } of now) {
    if (records > 0) next.set(source, Math.max(records, next.get(source) ?? 0));
  }
  const compared = [...next].slice(0, MOST_COMPARED);
  const isSame =
    compared.length === Object.keys(before ?? {}).length && compared.every(([source, n]) => before?.[source] === n);
  return before !== undefined && isSame ? undefined : Object.fromEntries(compared);
}
