// The kinds of review entries, the most urgent first.

export const ENTRY_KINDS = ['in_doubt', 'failed', 'rejected', 'unreadable', 'duplicate', 'held'] as const;
/** `unreadable` and `duplicate` are records of a feed; the others are changes. */
export type EntryKind = (typeof ENTRY_KINDS)[number];
