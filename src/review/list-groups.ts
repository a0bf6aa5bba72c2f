// Lists review entries by group for any medium, with the trend of each group.
import { auditAction } from '../store/access/audit.ts';
import type { Database } from '../store/postgres/database.ts';
import type { EntryQuery } from '../store/review/found-entries.ts';
import {
  addNote,
  findGroup,
  type GroupHistory,
  type GroupLimits,
  type GroupNote,
  type GroupTotals,
  type ReviewGroup,
  readGroupNotes,
  removeNote,
  reviewGroups,
} from '../store/review/review-groups.ts';
import { foldReviewCounts } from '../store/review/review-totals.ts';
import { type ListedRule, rulesOf } from '../store/review/rules.ts';

/** `back`: it had no entries for a while. */
export const TRENDS = ['new', 'growing', 'shrinking', 'steady', 'back'] as const;
export type GroupTrend = (typeof TRENDS)[number];

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

export const TREND_WORDS: Readonly<Record<GroupTrend, string>> = {
  new: 'new',
  back: 'back again',
  growing: 'growing',
  shrinking: 'shrinking',
  steady: 'steady',
};

interface GroupWords {
  readonly field: string | null;
  readonly message: string;
  readonly values: readonly string[];
  readonly valueCount: number;
}

export const groupWords = ({ field, message, values, valueCount }: ReviewGroup): GroupWords => ({
  field: field ?? null,
  message,
  values: values.map(({ of }) => of),
  valueCount,
});

/** `location-state: … is not a valid U.S. state: Jalisco, Sonora and 12 more` */
export function groupTitle({ field, message, values, valueCount }: GroupWords): string {
  const first = values.slice(0, 2).map((value) => (value.includes(',') ? `"${value}"` : value));
  // What follows a semicolon is advice.
  const said = first.length === 0 ? message : (message.split('; ', 1)[0] ?? '');
  const named = field === null || message.includes(field) ? said : `${field}: ${said.replace(/^…\s*/, '')}`;
  if (first.length === 0) return named;
  const more = valueCount - first.length;
  return `${named}: ${first.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const SHOWN_NAMES = 3;

/** The feeds or sites of a group: of several, how many entries each has. */
export function namesWithCounts(names: readonly { readonly of: string; readonly count: number }[]): string {
  const shown = names.slice(0, SHOWN_NAMES).map(({ of, count }) => (names.length === 1 ? of : `${of} (${count})`));
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

// Adds and removes notes of a group of review entries.

export type NoteEnd =
  | { readonly kind: 'done'; readonly note: GroupNote }
  /** Nothing was changed. */
  | { readonly kind: 'unknown' | 'refused'; readonly message: string };

/** In characters. */
export const LONGEST_NOTE = 2_000;
const MOST_NOTES = 100;

export async function noteGroup(db: Database, group: string, text: string, actor: string): Promise<NoteEnd> {
  const trimmed = text.trim();
  if (trimmed === '') return { kind: 'refused', message: 'a note needs a text' };
  if (trimmed.length > LONGEST_NOTE) {
    return { kind: 'refused', message: `a note may have at most ${LONGEST_NOTE} characters` };
  }
  await foldReviewCounts(db);
  return db.transaction(async (tx) => {
    const known = (await findGroup(tx, group)) !== undefined || (await readGroupNotes(tx, [group])).length > 0;
    if (!known) return { kind: 'unknown', message: `there is no entry in group ${group}` };
    const note = await addNote(tx, { group, text: trimmed, actor }, MOST_NOTES);
    if (note === undefined) {
      return { kind: 'refused', message: `group ${group} has ${MOST_NOTES} notes already: remove one first` };
    }
    await auditAction(tx, { actor, action: 'note group', detail: { group, note: note.id, text: trimmed } });
    return { kind: 'done', note };
  });
}

export async function removeGroupNote(db: Database, id: number, actor: string): Promise<NoteEnd> {
  return db.transaction(async (tx) => {
    const note = await removeNote(tx, id);
    if (note === undefined) return { kind: 'unknown', message: `there is no note ${id}` };
    const detail = { group: note.group, note: id, text: note.text };
    await auditAction(tx, { actor, action: 'remove note', detail });
    return { kind: 'done', note };
  });
}
