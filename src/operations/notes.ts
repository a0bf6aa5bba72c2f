// Notes of groups of review entries, for everybody who reviews.
import { z } from 'zod';
import { LONGEST_NOTE, type NoteEnd, noteGroup, removeGroupNote } from '../review/group-note.ts';
import type { GroupNote } from '../store/review/group-notes.ts';
import { OperationRefused, operation } from './operation.ts';
import { count, groupSchema, idNumber, text, time } from './scalars.ts';

export const noteOutput = z
  .strictObject({ note: count, group: z.string(), text: z.string(), actor: z.string(), at: time })
  .meta({ title: 'Note' });

export const noteReviewGroup = operation({
  id: 'noteReviewGroup',
  path: '/review/groups/{group}/notes',
  summary: 'Add a note to a group, for everybody who reviews',
  scope: 'review',
  input: z.strictObject({ group: groupSchema, text: text(LONGEST_NOTE).min(1, 'must not be empty') }),
  output: noteOutput,
  run: async ({ group, text: written }, { app, actor }) => noteOf(await noteGroup(app.db, group, written, actor)),
});

export const removeReviewNote = operation({
  id: 'removeReviewNote',
  path: '/review/notes/{id}/remove',
  summary: 'Remove a note of a group',
  scope: 'review',
  input: z.strictObject({ id: idNumber }),
  output: noteOutput,
  run: async ({ id }, { app, actor }) => noteOf(await removeGroupNote(app.db, id, actor)),
});

function noteOf(end: NoteEnd) {
  if (end.kind === 'done') return noteJson(end.note);
  throw new OperationRefused(end.kind === 'unknown' ? 'unknown' : 'conflict', end.message);
}

export const noteJson = ({ id, group, text, actor, at }: GroupNote) => ({ note: id, group, text, actor, at });
