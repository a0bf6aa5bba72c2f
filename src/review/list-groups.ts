// Lists review entries by group for any medium, with the trend of each group.
import type { Database } from '../store/postgres/database.ts';
import type { EntryQuery } from '../store/review/entry-query.ts';
import { type GroupNote, readGroupNotes } from '../store/review/group-notes.ts';
import {
  type GroupHistory,
  type GroupLimits,
  type GroupTotals,
  type ReviewGroup,
  reviewGroups,
} from '../store/review/review-groups.ts';
import { foldReviewCounts } from '../store/review/review-totals.ts';
import { type ListedRule, rulesOf } from '../store/review/rules.ts';

/** `back`: it had no entries for a while. */
export type GroupTrend = 'new' | 'back' | 'growing' | 'shrinking' | 'steady';

export interface ListedGroup extends ReviewGroup {
  readonly trend: GroupTrend;
  /** The oldest first. */
  readonly notes: readonly GroupNote[];
  /** In force. */
  readonly rules: readonly ListedRule[];
}

const DAY_MS = 24 * 60 * 60_000;

/** The selected entries by group, the largest first. */
export const listGroups = async (db: Database, query: EntryQuery, limits: GroupLimits): Promise<ListedGroup[]> =>
  (await listGroupsWithTotals(db, query, limits)).groups;

/** The same, with the totals of all groups, also of those beyond the limit. */
export async function listGroupsWithTotals(
  db: Database,
  query: EntryQuery,
  limits: GroupLimits,
): Promise<{ readonly groups: ListedGroup[]; readonly totals: GroupTotals }> {
  await foldReviewCounts(db);
  const { groups, totals } = await reviewGroups(db, query, limits);
  const ids = groups.map(({ id }) => id);
  const notes = await readGroupNotes(db, ids);
  const rules = await rulesOf(db, ids);
  const listed = groups.map((group) => ({
    ...group,
    trend: trendOf(group.history),
    notes: notes.filter((note) => note.group === group.id),
    rules: rules.filter((rule) => rule.group === group.id),
  }));
  return { groups: listed, totals };
}

/**
 * | the group                                       | trend                    |
 * |-------------------------------------------------|--------------------------|
 * | had none, and got entries again within a day    | back                     |
 * | appeared within a day                           | new                      |
 * | has more, fewer, as many entries as a day ago   | growing, shrinking, steady |
 * | is older, but was not counted a day ago         | steady                   |
 */
export function trendOf({ ageMs, now, dayAgo, backForMs }: GroupHistory): GroupTrend {
  if (backForMs !== undefined && backForMs < DAY_MS) return 'back';
  if (ageMs < DAY_MS) return 'new';
  if (dayAgo === undefined || now === dayAgo) return 'steady';
  return now > dayAgo ? 'growing' : 'shrinking';
}
