// Reads what a list of entries shows, and binds what can be decided to it.

import { entryPlace } from '../../../operations/review.ts';
import type { FeedName } from '../../../posting/identifiers.ts';
import { stateValues } from '../../../posting/site-rules.ts';
import { offersFor } from '../../../review/bulk/selection-offers.ts';
import { listGroups } from '../../../review/list-groups.ts';
import type { App } from '../../../runtime/app.ts';
import { readGroupNotes } from '../../../store/review/review-groups.ts';
import { reviewPage } from '../../../store/review/review-page.ts';
import { foldReviewCounts } from '../../../store/review/review-totals.ts';
import { decodeCursor, encodeCursor } from '../../web-env.ts';
import type { EntriesProps } from './entries.tsx';
import type { ReadSelection } from './selection.tsx';

const SHOWN_ENTRIES = 50;
const SHOWN_VALUES = 20;

type Read = Pick<
  EntriesProps,
  'texts' | 'feeds' | 'sites' | 'group' | 'notes' | 'counts' | 'states' | 'entries' | 'next'
>;

export async function readEntriesPage(app: App, { texts, query }: ReadSelection): Promise<Read> {
  const { db, config } = app;
  await foldReviewCounts(db);
  const id = texts.group;
  // Bound before the entries are read: what comes in between is shown, but not decided.
  const counts = await offersFor(app, query);
  const [group] = id === undefined ? [] : await listGroups(db, query, { groups: 1, values: SHOWN_VALUES });
  const { entries, next } = await reviewPage(db, query, SHOWN_ENTRIES, decodeCursor(texts.cursor, entryPlace));
  return {
    texts,
    ...choices(config),
    group,
    notes: id === undefined ? [] : (group?.notes ?? (await readGroupNotes(db, [id]))),
    counts,
    states: statesOf(
      config,
      counts.of.edit.byFeed.map(({ feed }) => feed),
    ),
    entries,
    next: encodeCursor(next) ?? undefined,
  };
}

/** The states that the sites of these feeds accept, by the name of the field. */
export function statesOf(
  { feeds }: Pick<App['config'], 'feeds'>,
  names: readonly FeedName[],
): ReadonlyMap<string, readonly string[]> {
  const states = new Map<string, readonly string[]>();
  for (const name of names) {
    const mapping = feeds.get(name)?.mapping;
    if (mapping === undefined) continue;
    const field = mapping.stateField.name;
    states.set(field, [...new Set([...(states.get(field) ?? []), ...stateValues(mapping)])]);
  }
  return states;
}

/** What a filter offers. */
export const choices = ({ feeds, sites }: Pick<App['config'], 'feeds' | 'sites'>) => ({
  feeds: [...feeds.keys()],
  sites: [...sites.keys()],
});
