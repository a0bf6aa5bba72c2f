// Starts an action on many review entries: what was shown is what it acts on.
import { hash } from 'node:crypto';
import { plural } from '../../plan/plural.ts';
import type { Database } from '../../store/postgres/database.ts';
import { type BulkDetail, type BulkKind, type BulkRow, createBulk } from '../../store/review/bulk-actions.ts';
import type { EntryQuery } from '../../store/review/entry-query.ts';
import { countSelected, type SelectedCount } from '../../store/review/selected-counts.ts';
import { groupAll } from '../list-groups.ts';
import { describeSelected } from './describe-selected.ts';

export interface BulkRequest {
  readonly action: BulkKind;
  readonly actor: string;
  readonly detail: BulkDetail;
  /** How many entries the person saw, or exactly which ones: with any others, nothing is done. */
  readonly expected?: number | readonly SelectedCount[] | undefined;
  /** The {@link markOf} of the entries that the person saw: with any others, nothing is done. */
  readonly mark?: string | undefined;
}

export type BulkStart =
  | { readonly kind: 'started'; readonly bulk: BulkRow }
  /** Nothing was stored or changed. */
  | { readonly kind: 'refused'; readonly message: string };

class RefusedError extends Error {}

/** Stores the action and its entries, as they are now. An entry that changes before it is acted on is left alone. */
export async function startBulk(db: Database, { expected, mark, ...request }: BulkRequest): Promise<BulkStart> {
  await groupAll(db);
  try {
    const bulk = await db.transaction(async (tx) => {
      const made = await createBulk(tx, { ...request, detail: forAction(request) });
      const refusal = whyRefused(made.selected, expected, mark);
      if (refusal !== undefined) throw new RefusedError(refusal);
      return made.bulk;
    });
    return { kind: 'started', bulk };
  } catch (error) {
    if (error instanceof RefusedError) return { kind: 'refused', message: error.message };
    throw error;
  }
}

/** What the action would act on now, for a person to confirm. */
export async function previewBulk(db: Database, action: BulkKind, query: EntryQuery): Promise<SelectedCount[]> {
  await groupAll(db);
  return countSelected(db, forAction({ action, detail: { query } }).query);
}

/** Only discarded entries can be reopened, and all other actions are for those that wait. */
const forAction = ({ action, detail }: Pick<BulkRequest, 'action' | 'detail'>): BulkDetail => ({
  ...detail,
  query: { ...detail.query, discarded: action === 'reopen' },
});

/** Short enough for a command. Another one if other entries are selected, or one of them has changed. */
export const markOf = (selected: readonly SelectedCount[]): string =>
  hash('sha256', JSON.stringify(selected), 'hex').slice(0, 10);

function whyRefused(
  selected: readonly SelectedCount[],
  expected: BulkRequest['expected'],
  mark: string | undefined,
): string | undefined {
  const total = selected.reduce((sum, { n }) => sum + n, 0);
  if (total === 0) return 'no entry matches: nothing was done.';
  const now = ['Nothing was done.', ...describeSelected(selected)].join('\n  ');
  if (typeof expected === 'number' && expected !== total) {
    const matches = total === 1 ? '1 entry matches' : `${plural(total, 'entry', 'entries')} match`;
    return `${matches} now, not ${expected}: list them again. ${now}`;
  }
  const marks = [mark, typeof expected === 'object' ? markOf(expected) : undefined];
  if (marks.every((each) => each === undefined || each === markOf(selected))) return undefined;
  return `the selected entries have changed since they were counted: list them again. ${now}`;
}
