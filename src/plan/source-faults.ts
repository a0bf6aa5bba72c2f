// Recognises faults of sources that make postings seem gone: a source that has no records any more, an answer that a cache repeats, and older copies
// of a feed in turn.
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

// Decides whether a pull whose end is proven only weakly counts towards deletes: it must not be an answer that a cache repeats.

/** What tells an answer of a source from one that a cache repeats; each is absent if the answer does not have it. */
export interface AnswerMark {
  readonly etag?: string;
  readonly lastModified?: string;
  /** How long a cache has had it, in seconds. */
  readonly age?: number;
}

/** The weakly proven pull that last counted a posting as missing. */
export interface FormerAnswer {
  /** A mark of each of its documents that could have been cut. */
  readonly marks: readonly AnswerMark[];
  readonly agoMs: number;
}

/**
 * | | missing postings |
 * |---|---|
 * | `first` | are counted, and none is deleted |
 * | `repeated` | may be missing from the same cached answer: they are not even counted |
 * | `another` | are counted, and deleted if they were counted before |
 */
export type WeakPull = 'first' | 'repeated' | 'another';

/** Caches are expected to ask the source again after this time. */
const CACHED_MS = 60 * 60 * 1000;
/** Between the answers and the times at which they are noted. */
const AGE_TOLERANCE_S = 60;
/** If there are more documents, only the time is compared. */
const MAX_MARKS = 50;

export function weakPullOf(former: FormerAnswer | undefined, marks: readonly AnswerMark[]): WeakPull {
  // A time in the future is that of a clock which was ahead, and tells nothing.
  if (former === undefined || former.agoMs < 0) return 'first';
  if (former.agoMs >= CACHED_MS) return 'another';
  const isComparable = marks.length > 0 && marks.length <= MAX_MARKS && marks.length === former.marks.length;
  const areOthers = marks.every((mark, at) => isAnother(former.marks[at] ?? {}, mark, former.agoMs / 1000));
  return isComparable && areOthers ? 'another' : 'repeated';
}

/** What is stored of an answer. */
export const keptMarks = (marks: readonly AnswerMark[]): readonly AnswerMark[] =>
  marks.length > MAX_MARKS ? [] : marks;

function isAnother(before: AnswerMark, now: AnswerMark, seconds: number): boolean {
  return (
    differ(before.etag, now.etag) || differ(before.lastModified, now.lastModified) || agesDiffer(before, now, seconds)
  );
}

const differ = (before: string | undefined, now: string | undefined): boolean =>
  before !== undefined && now !== undefined && before !== now;

/** The age of a cached answer grows with time; another one is younger, or older than it can have become. */
const agesDiffer = ({ age: before }: AnswerMark, { age: now }: AnswerMark, seconds: number): boolean =>
  before !== undefined && now !== undefined && (now < before || now > before + seconds + AGE_TOLERANCE_S);

// Tells whether a source returns older copies of a feed in turn, as caches and servers that are not in step do.

/** What a complete pull has read. */
export interface FeedCopy {
  /** Digest of the source's settings, as only copies of one source are compared; absent while it is read. */
  readonly source?: string;
  /** The same for the same records in any order. */
  readonly content: string;
  /** By the source's own word, in milliseconds since 1970; absent: it does not say. */
  readonly madeAt?: number;
  /** It came through a cache, as its headers say. */
  readonly isCached?: true;
}

/** The copy that an earlier complete pull has read. */
export interface FormerCopy extends FeedCopy {
  readonly pull: number;
  /** The pull that first read this content, or that last accepted it again; absent: the earliest known pull that has read it. */
  readonly since?: number;
}

export interface JudgedCopy extends FeedCopy {
  readonly since: number;
  /** From how many pulls in a row a posting must be missing before its job is deleted, and how many have to read an older content until it counts. */
  readonly pulls: number;
  /** Why more than one; absent: one is enough. */
  readonly why?: 'again' | 'in_turn' | 'older';
  /** The jobs have newer content by now. */
  readonly isOutdated: boolean;
}

/** A source that returns its copies at random rarely returns one so often in a row. */
const MOST_PULLS = 8;
/** Between the clocks of servers. */
const CLOCK_TOLERANCE_MS = 60_000;

/**
 * | the source                                              | deletes wait | updates are left out                           |
 * | ------------------------------------------------------- | ------------ | ---------------------------------------------- |
 * | returns to a former content for the first time          | yes          | no: it may have been changed back              |
 * | has done so before, and returns another content         | yes          | no                                             |
 * | has done so before, and returns an older content        | yes          | until it has returned it in so many pulls      |
 * | says that this copy was made before that of the last pull | yes        | no: files that are restored have their old dates |
 *
 * Without headers of a cache, only the third return counts: before that, the feed has more likely been changed back.
 *
 * @param known newest first
 */
export function judgeCopy(copy: FeedCopy, known: readonly FormerCopy[], pull: number): JudgedCopy {
  const elsewhere = known.findIndex(({ source }) => source !== copy.source);
  const former = elsewhere < 0 ? known : known.slice(0, elsewhere);
  const contents = [copy, ...former].map(({ content }) => content);
  const spans = contents.filter((content, at) => content !== contents[at - 1]);
  const returns = spans.length - new Set(spans).size;
  const isReturned = spans.lastIndexOf(copy.content) > 0;
  const [last] = former;
  const isOlder =
    last !== undefined &&
    last.content !== copy.content &&
    (copy.madeAt ?? Infinity) < (last.madeAt ?? 0) - CLOCK_TOLERANCE_MS;
  const isNewer = (copy.madeAt ?? 0) > (last?.madeAt ?? Infinity) + CLOCK_TOLERANCE_MS;
  const mayBeCached = [copy, ...former].some(({ isCached }) => isCached === true);
  const isAgain = isReturned && mayBeCached && !isNewer;
  const why = returns > (mayBeCached ? 1 : 2) ? 'in_turn' : isAgain ? 'again' : isOlder ? 'older' : undefined;
  const pulls = why === undefined ? 1 : why === 'in_turn' ? Math.min(MOST_PULLS, returns + 2) : 2;
  const another = contents.findIndex((content) => content !== copy.content);
  const inRow = another < 0 ? contents.length : another;
  const own = sinceOf(copy.content, former);
  const isOld = why === 'in_turn' && former.some(({ content }) => (sinceOf(content, former) ?? 0) > (own ?? Infinity));
  const isAccepted = isOld && inRow >= pulls;
  return {
    ...copy,
    since: isAccepted ? pull : (own ?? pull),
    pulls,
    ...(why === undefined ? {} : { why }),
    isOutdated: isOld && !isAccepted,
  };
}

/** Feeds of fewer postings often keep their number by chance. */
const SHORT_LIST = 10;

/**
 * Whether this content has as many records as the two before it, or as the only one that is known. So have lists of only the newest postings,
 * whatever their size: each new one pushes another out.
 * @param before how many the two contents before it had
 */
export function steadiness(records: number, before: readonly number[]): 'steady' | 'perhaps' | undefined {
  if (records < SHORT_LIST || before.length === 0 || before.some((size) => size !== records)) return undefined;
  return before.length > 1 ? 'steady' : 'perhaps';
}

function sinceOf(content: string, former: readonly FormerCopy[]): number | undefined {
  const same = former.filter((copy) => copy.content === content);
  return same.find(({ since }) => since !== undefined)?.since ?? same.at(-1)?.pull;
}
