// Adds and removes notes of a group of review entries.
import { auditAction } from '../store/access/audit.ts';
import type { Database } from '../store/postgres/database.ts';
import { findGroup } from '../store/review/group-kind.ts';
import { addNote, type GroupNote, readGroupNotes, removeNote } from '../store/review/group-notes.ts';
import { foldReviewCounts } from '../store/review/review-totals.ts';

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
