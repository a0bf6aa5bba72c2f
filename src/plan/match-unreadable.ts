// Recognises unreadable records whose bytes differ from pull to pull: marks them, and matches them with review entries.
import { recordHash } from '../posting/hash.ts';
import type { PostingKey } from '../posting/identifiers.ts';
import type { Problem } from '../posting/posting.ts';

/** What identifies an unreadable record. Hashes are hex. */
export interface UnreadableMarks {
  /** The key, if it could be recovered. It alone decides. */
  readonly key: PostingKey | undefined;
  /** Hash of the record's bytes. */
  readonly bytes: string;
  /** Hash of the record without the parts that change from pull to pull: times, numbers, session IDs. */
  readonly shape: string | undefined;
  /** The error message without positions and values. */
  readonly fault: string | undefined;
}

/** The review entry of an unreadable record. */
export interface UnreadableEntry extends UnreadableMarks {
  readonly id: number;
  readonly discarded: boolean;
}

/**
 * Returns the entry of each record, or `undefined`; no entry is returned twice. Records without a key are matched by
 * their bytes, the rest by shape, and what is still left by fault, in feed order. A record keeps its entry whatever
 * changes in it, and there are never fewer entries than different records.
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
  // An entry made before the key could be recovered, or under another key path, carries over to the key.
  match((marks) => marks.bytes, unlessKeyed('bytes'));
  match(unlessKeyed('shape'));
  match(unlessKeyed('fault'));
  return matches;
}

/** Only this much of a large record is examined. */
const EXAMINED_BYTES = 65_536;
const TOKEN = /[\p{L}\p{N}_+/=.:-]+/gu;

/** A hash of the record that ignores white space and tokens with digits (times, numbers, session IDs). */
export function shapeOf(record: Buffer): Buffer {
  const text = record
    .subarray(0, EXAMINED_BYTES)
    .toString()
    .replace(TOKEN, (token) => (/\p{N}/u.test(token) ? '#' : token))
    .replace(/[\s\ufffd]+/g, ' ');
  return recordHash(Buffer.from(text));
}

/** The first problem's message without positions and values. */
export const faultOf = (problems: readonly Problem[]): string =>
  (problems[0]?.message ?? '')
    .replace(/"(?:[^"\\]|\\.)*"/g, '"…"')
    .replace(/&#?\w+;/g, '&…;')
    .replace(/\d+/g, '#');
