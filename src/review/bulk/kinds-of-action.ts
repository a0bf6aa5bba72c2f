// Which kinds of review entries an action can apply to, so that a list offers only what is possible for some of its entries.
import type { SelectedAction } from '../../store/review/bulk-actions.ts';
import { ENTRY_KINDS, type EntryKind } from '../../store/review/review-entries.ts';

/** A create in doubt may have been done: only a person who resolves it decides, so it is never discarded. */
export const KINDS_OF_ACTION: Readonly<Record<SelectedAction, readonly EntryKind[]>> = {
  edit: ['failed', 'rejected'],
  retry: ['failed', 'rejected'],
  approve: ['held'],
  discard: ENTRY_KINDS.filter((kind) => kind !== 'in_doubt'),
  reopen: ENTRY_KINDS,
  missing: ['in_doubt'],
  check: ['in_doubt'],
};
