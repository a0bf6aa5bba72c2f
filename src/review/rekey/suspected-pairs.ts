// Shows which new postings of a feed may be missing ones under other keys, page by page, with marks that bind a decision to what
// was shown.
import { createHash, hash } from 'node:crypto';
import type { Message } from '../../plan/message.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { type ReadPairs, type RekeyLine, readRekey, withPairs } from '../../store/change/rekey/read-rekey.ts';
import { readRekeySides } from '../../store/change/rekey/rekey-sides.ts';
import type { Database } from '../../store/postgres/database.ts';
import { differenceOf, type PulledDifference } from '../pulled-changes.ts';

/** Certain pairs, other pairs, and postings without a pair: new ones, and missing ones that have a job. */
export const PAIR_KINDS = ['sure', 'unsure', 'new', 'missing'] as const;
export type PairKind = (typeof PAIR_KINDS)[number];

export interface ShownPair extends RekeyLine {
  /** Another one after each change of the pair. */
  readonly version: string;
  /** At most {@link MOST_FIELDS}; `undefined`: no pair, or one side is not known. */
  readonly differences: readonly PulledDifference[] | undefined;
  readonly moreFields: number;
}

export interface PairMarks {
  /** Of the certain pairs. */
  readonly sure: string;
  /** Of all postings, with and without a pair. */
  readonly all: string;
}

export interface SuspectedPairs {
  readonly note: Message;
  readonly counts: Readonly<Record<PairKind, number>>;
  readonly marks: PairMarks;
  readonly items: readonly ShownPair[];
  /** Where the next page begins; `undefined`: nothing follows. */
  readonly next: number | undefined;
}

export interface PairPage {
  readonly show: PairKind;
  /** How many of the kind come before the page. */
  readonly from: number;
  readonly limit: number;
}

const MOST_FIELDS = 6;

/** `undefined`: no change of keys is suspected. */
export function suspectedPairs(db: Database, feed: FeedName, page: PairPage): Promise<SuspectedPairs | undefined> {
  return withPairs(db, feed, async (read) => {
    const lines: RekeyLine[] = [];
    const { counts, marks } = await surveyPairs(read, (line, place) => {
      if (kindOf(line) === page.show && place >= page.from && place < page.from + page.limit) lines.push(line);
    });
    const { note } = await readRekey(db, feed);
    if (note === undefined) return undefined;
    const end = page.from + page.limit;
    const next = end < counts[page.show] ? end : undefined;
    return { note, counts, marks, items: await withDifferences(db, feed, lines), next };
  });
}

/** Walks through all pairs. @param each is told how many of its kind came before */
export async function surveyPairs(
  read: ReadPairs,
  each: (line: RekeyLine, place: number) => void = () => undefined,
): Promise<Pick<SuspectedPairs, 'counts' | 'marks'>> {
  const counts: Record<PairKind, number> = { sure: 0, unsure: 0, new: 0, missing: 0 };
  const sure = createHash('sha256');
  const all = createHash('sha256');
  for await (const lines of read()) {
    for (const line of lines) {
      const kind = kindOf(line);
      each(line, counts[kind]++);
      const version = pairVersion(line);
      all.update(version);
      if (kind === 'sure') sure.update(version);
    }
  }
  return { counts, marks: { sure: shortened(sure.digest('hex')), all: shortened(all.digest('hex')) } };
}

const shortened = (digest: string): string => digest.slice(0, 20);

export const pairVersion = ({ key, oldKey, siteJobId, title, verdict, reasons, contents }: RekeyLine): string =>
  shortened(hash('sha256', JSON.stringify([key, oldKey, siteJobId, title, verdict, reasons, contents]), 'hex'));

const kindOf = ({ verdict, key }: RekeyLine): PairKind =>
  verdict !== 'unmatched' ? verdict : key === undefined ? 'missing' : 'new';

async function withDifferences(db: Database, feed: FeedName, lines: readonly RekeyLine[]): Promise<ShownPair[]> {
  const pairs = lines.flatMap(({ key, oldKey }) =>
    key === undefined || oldKey === undefined ? [] : [{ key, oldKey }],
  );
  const sides = new Map(
    (await readRekeySides(db, feed, pairs)).map((side, at) => [JSON.stringify(pairs[at]), side] as const),
  );
  return lines.map((line): ShownPair => {
    const { key, oldKey } = line;
    const { before, now } = sides.get(JSON.stringify({ key, oldKey })) ?? {};
    const version = pairVersion(line);
    if (before === undefined || now === undefined) return { ...line, version, differences: undefined, moreFields: 0 };
    const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
    const differing = names.filter((name) => before[name] !== now[name]);
    const shown = differing.slice(0, MOST_FIELDS);
    const differences = shown.map((name) => differenceOf(name, before[name], now[name]));
    return { ...line, version, differences, moreFields: differing.length - shown.length };
  });
}
