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
const FEW_RECORDS = 10;

/**
 * Whether this content has as many records as the two before it, or as the only one that is known. So have lists of only the newest postings,
 * whatever their size: each new one pushes another out.
 * @param before how many the two contents before it had
 */
export function steadiness(records: number, before: readonly number[]): 'steady' | 'perhaps' | undefined {
  if (records < FEW_RECORDS || before.length === 0 || before.some((size) => size !== records)) return undefined;
  return before.length > 1 ? 'steady' : 'perhaps';
}

function sinceOf(content: string, former: readonly FormerCopy[]): number | undefined {
  const same = former.filter((copy) => copy.content === content);
  return same.find(({ since }) => since !== undefined)?.since ?? same.at(-1)?.pull;
}
