// Recognises the unreadable records of a pull among those that have a review entry already.
import type { PostingKey } from '../posting/identifiers.ts';

/** What an unreadable record is recognised by. Hashes are hex. */
export interface UnreadableMarks {
  /** The key, where it could be recovered: it decides alone. */
  readonly key: PostingKey | undefined;
  /** Of the record's bytes. */
  readonly bytes: string;
  /** Of what is left of the record without what changes from pull to pull: times, numbers, session IDs. */
  readonly shape: string | undefined;
  /** What is wrong with it, without places and values. */
  readonly fault: string | undefined;
}

/** A review entry of an unreadable record. */
export interface UnreadableEntry extends UnreadableMarks {
  readonly id: number;
  readonly discarded: boolean;
}

/**
 * Gives for each record its entry, or `undefined`. No entry is given twice. Records without a key are recognised by their
 * bytes; those left over by their shape; those still left over by what is wrong with them, in the order of the feed. So a
 * record of which anything may change keeps one entry, and there are never fewer entries than different records.
 */
export function matchUnreadable(
  records: readonly UnreadableMarks[],
  entries: readonly UnreadableEntry[],
): readonly (UnreadableEntry | undefined)[] {
  const matches = new Array<UnreadableEntry | undefined>(records.length).fill(undefined);
  const taken = new Set<number>();
  const match = (
    markOf: (marks: UnreadableMarks) => string | undefined,
    entryMarkOf: (marks: UnreadableMarks) => string | undefined = markOf,
  ) => {
    const free = new Map<string, UnreadableEntry[]>();
    for (const entry of entries) {
      const mark = taken.has(entry.id) ? undefined : entryMarkOf(entry);
      if (mark !== undefined) free.set(mark, [...(free.get(mark) ?? []), entry]);
    }
    for (const [at, record] of records.entries()) {
      const mark = matches[at] === undefined ? markOf(record) : undefined;
      const entry = mark === undefined ? undefined : free.get(mark)?.shift();
      if (entry === undefined) continue;
      taken.add(entry.id);
      matches[at] = entry;
    }
  };
  const unlessKeyed = (mark: 'bytes' | 'shape' | 'fault') => (marks: UnreadableMarks) =>
    marks.key === undefined ? marks[mark] : undefined;
  match((marks) => marks.key);
  // An entry from before the key could be recovered, or from under another key path, goes on under the key.
  match((marks) => marks.bytes, unlessKeyed('bytes'));
  match(unlessKeyed('shape'));
  match(unlessKeyed('fault'));
  return matches;
}
