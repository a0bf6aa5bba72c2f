// Shows which new postings of a feed may be missing ones under other keys, page by page, with marks that bind a decision to what
// was shown.
import type { FeedName } from '../../posting/identifiers.ts';
import { PAIR_KINDS, type PairKind } from '../../store/change/rekey/compare-rekey.ts';
import {
  type ComparedRekey,
  type LinePlace,
  readLines,
  readRekeySides,
  type StoredLine,
  withRekey,
} from '../../store/change/rekey/read-rekey.ts';
import type { Database, Queryable } from '../../store/postgres/database.ts';
import { differenceOf, type PulledDifference } from '../pulled-changes.ts';

export interface ShownPair extends StoredLine {
  /** At most {@link MOST_FIELDS}; `undefined`: no pair, or one side is not known. */
  readonly differences: readonly PulledDifference[] | undefined;
  readonly moreFields: number;
}

export interface SuspectedPairs extends ComparedRekey {
  /** The kind that is shown. */
  readonly show: PairKind;
  readonly items: readonly ShownPair[];
  /** The page begins with the first of its kind. */
  readonly isFirst: boolean;
  /** Where the next page begins; `undefined`: nothing follows. */
  readonly next: LinePlace | undefined;
}

export interface PairPage {
  /** `undefined`: the most certain kind of which there are some. */
  readonly show: PairKind | undefined;
  /** Only those that follow this place. */
  readonly after: LinePlace | undefined;
  readonly limit: number;
}

const MOST_FIELDS = 6;

/** `undefined`: no change of keys is suspected. */
export function suspectedPairs(db: Database, feed: FeedName, page: PairPage): Promise<SuspectedPairs | undefined> {
  return withRekey(db, feed, async (session, compared) => {
    const show = page.show ?? PAIR_KINDS.find((kind) => compared.counts[kind] > 0) ?? 'sure';
    const read = await readLines(session, feed, show, page.limit + 1, page.after);
    const lines = read.slice(0, page.limit);
    const items = await withDifferences(session, feed, lines);
    const next = read.length > page.limit ? lines.at(-1)?.place : undefined;
    return { ...compared, show, items, isFirst: page.after === undefined, next };
  });
}

async function withDifferences(db: Queryable, feed: FeedName, lines: readonly StoredLine[]): Promise<ShownPair[]> {
  const pairs = lines.flatMap(({ key, oldKey }) =>
    key === undefined || oldKey === undefined ? [] : [{ key, oldKey }],
  );
  const sides = new Map(
    (await readRekeySides(db, feed, pairs)).map((side, at) => [JSON.stringify(pairs[at]), side] as const),
  );
  return lines.map((line): ShownPair => {
    const { key, oldKey } = line;
    const { before, now } = sides.get(JSON.stringify({ key, oldKey })) ?? {};
    if (before === undefined || now === undefined) return { ...line, differences: undefined, moreFields: 0 };
    const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
    const differing = names.filter((name) => before[name] !== now[name]);
    const shown = differing.slice(0, MOST_FIELDS);
    const differences = shown.map((name) => differenceOf(name, before[name], now[name]));
    return { ...line, differences, moreFields: differing.length - shown.length };
  });
}
