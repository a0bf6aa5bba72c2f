// Which kinds of review entries an action can apply to, so that a list offers only what is possible for some of its entries.
import type { BulkKind, SelectedAction } from '../../store/review/bulk-actions.ts';
import type { EntryQuery } from '../../store/review/entry-query.ts';
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

/**
 * What the action acts on of what the query selects. Entries that a person named one by one stay selected whatever their kind: the
 * action leaves those that it can't apply to alone, with the reason.
 */
export function appliesTo(action: BulkKind, query: EntryQuery): EntryQuery {
  if (query.ids !== undefined || action === 'adopt') return query;
  return { ...query, kinds: KINDS_OF_ACTION[action].filter((kind) => (query.kinds ?? ENTRY_KINDS).includes(kind)) };
}

/** The kinds that the query selects and {@link appliesTo} leaves out. */
export function othersThan(action: BulkKind, query: EntryQuery): readonly EntryKind[] {
  const { kinds = ENTRY_KINDS } = appliesTo(action, query);
  return (query.kinds ?? ENTRY_KINDS).filter((kind) => !kinds.includes(kind));
}
