// Reads what a list of entries shows, and binds what can be decided to it.

import { decidesDeletes } from '../../../review/answer-first.ts';
import { KINDS_OF_ACTION } from '../../../review/bulk/kinds-of-action.ts';
import { countNow, markOf } from '../../../review/bulk/start-bulk.ts';
import { groupAll, listGroups } from '../../../review/list-groups.ts';
import type { App } from '../../../runtime/app.ts';
import { questionedDeletes } from '../../../store/backlog/open-question.ts';
import type { SelectedAction } from '../../../store/review/bulk-actions.ts';
import { type EntryQuery, isCut } from '../../../store/review/entry-query.ts';
import { readGroupNotes } from '../../../store/review/group-notes.ts';
import { countEntries, ENTRY_KINDS } from '../../../store/review/review-entries.ts';
import { reviewPage } from '../../../store/review/review-page.ts';
import { readSeen, type SelectedCount } from '../../../store/review/selected-counts.ts';
import { decodeCursor, encodeCursor } from '../../api/cursor.ts';
import { placeSchema } from '../../api/review.ts';
import type { Countable } from './decision-form.tsx';
import type { EntriesProps } from './entries.tsx';
import type { ReadSelection } from './selection.tsx';

const SHOWN = 50;
const SHOWN_VALUES = 20;
/** Of more entries, reading each one's revision would take longer than a page may. */
const MOST_MARKED = 5_000;

type Read = Pick<EntriesProps, 'texts' | 'feeds' | 'sites' | 'group' | 'notes' | 'counts' | 'entries' | 'next'>;

export async function readEntriesPage(app: App, { texts, query }: ReadSelection): Promise<Read> {
  const { db, config } = app;
  await groupAll(db);
  const id = texts.group;
  // Bound before the entries are read: what comes in between is shown, but not decided.
  const counts = await countable(app, query);
  const [group] = id === undefined ? [] : await listGroups(db, query, { groups: 1, values: SHOWN_VALUES });
  const { entries, next } = await reviewPage(db, query, SHOWN, decodeCursor(texts.cursor, placeSchema));
  const seen = new Map(
    (
      await readSeen(
        db,
        entries.map((entry) => entry.id),
      )
    ).map((row) => [row.id, row]),
  );
  return {
    texts,
    ...choices(config),
    group,
    notes: id === undefined ? [] : (group?.notes ?? (await readGroupNotes(db, [id]))),
    counts,
    entries: entries.map((entry) => ({ ...entry, value: null, revision: null, ...seen.get(entry.id) })),
    next: encodeCursor(next) ?? undefined,
  };
}

/** What a filter offers. */
export const choices = ({ feeds, sites }: Pick<App['config'], 'feeds' | 'sites'>) => ({
  feeds: [...feeds.keys()],
  sites: [...sites.keys()],
});

async function countable({ db }: App, query: EntryQuery & { readonly discarded: boolean }): Promise<Countable> {
  const { discarded } = query;
  const kinds = await countEntries(db, {
    feed: query.feed,
    kinds: query.kinds ?? ENTRY_KINDS,
    discarded,
    within: query,
  });
  const total = [...kinds.values()].reduce((sum, n) => sum + n, 0);
  const marked = total > MOST_MARKED ? undefined : await countNow(db, query);
  const selected: readonly (Pick<SelectedCount, 'kind' | 'n'> & Partial<SelectedCount>)[] =
    marked ?? [...kinds].map(([kind, n]) => ({ kind, n }));
  const rowsOf = (action: SelectedAction) => selected.filter(({ kind }) => KINDS_OF_ACTION[action].includes(kind));
  const questioned = (discarded ? [] : await questionedDeletes(db, query.feed)).filter(({ feed, kind }) =>
    selected.some((each) => each.kind === kind && (each.feed ?? feed) === feed),
  );
  const isAsked = (action: SelectedAction) =>
    decidesDeletes(action) && questioned.some(({ kind }) => KINDS_OF_ACTION[action].includes(kind));
  const of = (action: SelectedAction) => {
    if (discarded !== (action === 'reopen')) return { count: 0, mark: undefined };
    if (isAsked(action)) return { count: 0, mark: undefined };
    const rows = rowsOf(action);
    const count = rows.reduce((sum, { n }) => sum + n, 0);
    return { count, mark: marked === undefined ? undefined : markOf(rows as readonly SelectedCount[]) };
  };
  return {
    inQuestion: [...new Set(questioned.map(({ feed }) => feed))],
    total: marked === undefined ? total : marked.reduce((sum, { n }) => sum + n, 0),
    more: isCut(query, total),
    of: {
      edit: of('edit'),
      retry: of('retry'),
      discard: of('discard'),
      approve: of('approve'),
      reopen: of('reopen'),
      missing: of('missing'),
      check: of('check'),
    },
  };
}
