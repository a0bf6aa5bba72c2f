// Finds the review entries of a pull's unreadable records, and what the records mean for postings that seem to be gone.
import { matchUnreadable, type UnreadableEntry } from '../plan/match-unreadable.ts';
import { type Message, messageOf } from '../plan/message.ts';
import type { PullTransaction } from '../store/pull/pull-transaction.ts';
import { type UnreadableRecords, unreadableEntries } from '../store/pull/record-problems.ts';
import { PULL_LIMITS, type UnusableRecords } from './unusable-records.ts';

/** The unreadable records of a pull. */
export interface UnreadableInPull {
  /** Each with its existing review entry, if any. */
  readonly found: readonly { readonly records: UnreadableRecords; readonly entry: UnreadableEntry | undefined }[];
  /** Number of existing review entries. */
  readonly entries: number;
  /** Records that no reviewer has discarded. With any of them the feed is not proven complete. */
  readonly open: number;
  /** The number of records beyond the limit of review entries per pull, which nobody can discard. */
  readonly leftOut: number;
  /** Records that could be any posting, even after a reviewer discarded their entries. */
  readonly withoutKey: number;
  /** The keys have changed since the live jobs were created, so every unreadable record could be any posting. */
  readonly rekeyed: boolean;
}

/** @param rekeyed the keys have changed since the live jobs were created. */
export async function recogniseUnreadable(
  { session, subject }: PullTransaction,
  unusable: UnusableRecords,
  rekeyed: boolean,
): Promise<UnreadableInPull> {
  const { records, leftOut } = unusable.unreadable();
  const entries = records.length === 0 ? [] : await unreadableEntries(session, subject.feed);
  const marks = records.map(({ key, recordHash, shape, fault }) => ({
    key,
    bytes: recordHash.toString('hex'),
    shape: shape.toString('hex'),
    fault,
  }));
  const matches = matchUnreadable(marks, entries);
  const found = records.map((each, at) => ({ records: each, entry: matches[at] }));
  const open = found.filter(({ entry }) => entry?.discarded !== true);
  const withoutKey = records.filter(({ key }) => key === undefined);
  const countOf = (list: readonly UnreadableRecords[]) => list.reduce((sum, { count }) => sum + count, 0);
  return {
    found,
    entries: entries.length,
    open: countOf(open.map((each) => each.records)) + leftOut.records,
    leftOut: leftOut.records,
    withoutKey: rekeyed ? countOf(records) + leftOut.records : countOf(withoutKey) + leftOut.withoutKey,
    rekeyed,
  };
}

/** Why a feed with unreadable records is not proven complete. */
export function unreadableShortfall({ open: count, leftOut }: UnreadableInPull): Message[] {
  if (count === 0) return [];
  const records = count === 1 ? '1 record could' : `${count} records could`;
  if (count === leftOut) {
    return [
      `${records} not be read and may be a posting that seems to be gone; only the first ${PULL_LIMITS.entries} problems get a ` +
        "review entry, so these records can't be discarded: fix the feed",
    ];
  }
  const text = `${records} not be read and may be a posting that seems to be gone`;
  return [messageOf(text, [{ words: 'see', action: { kind: 'list_entries' } }])];
}
