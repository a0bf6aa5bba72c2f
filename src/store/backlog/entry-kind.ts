// The kinds of review entries, the most urgent first.

export const ENTRY_KINDS = ['in_doubt', 'failed', 'rejected', 'unreadable', 'duplicate', 'held'] as const;
/** `unreadable` and `duplicate` are records of a feed; the others are changes. */
export type EntryKind = (typeof ENTRY_KINDS)[number];

/** SQL: the former state of the discarded change `c`, which reopening restores. */
export const DISCARDED_KIND = `coalesce(c.discarded_from, 'rejected')`;
