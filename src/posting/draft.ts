// Collects what reading one record brings to light: fields, notes and problems, until the posting is made of them.
import { newBare } from './bare.ts';
import type { Problem } from './posting.ts';
import { excerpt, removeIllegalCharacters } from './xml-characters.ts';

/** A posting in the making. */
export interface Draft {
  /** Inherits no name, so that none of a field means anything else. */
  readonly fields: Record<string, string>;
  readonly notes: Problem[];
  readonly problems: Problem[];
}

export function newDraft(fields: Readonly<Record<string, string>> = {}, notes: readonly Problem[] = []): Draft {
  return { fields: Object.assign(newBare(), fields), notes: [...notes], problems: [] };
}

/** Sets a field to clean text: line ends `\n`, no space around, nothing that XML can't carry. Empty: the field is absent. */
export function setField(draft: Draft, field: string, text: string): void {
  const { text: legal, removed } = removeIllegalCharacters(text);
  if (removed.length > 0) {
    const what = removed.length === 1 ? '1 character' : `${removed.length} characters`;
    draft.notes.push({ field, value: excerpt(text), message: `${what} that XML can't carry removed` });
  }
  const clean = (legal.includes('\r') ? legal.replace(/\r\n?/g, '\n') : legal).trim();
  if (clean === '') delete draft.fields[field];
  else draft.fields[field] = clean;
}

/** `message` is a whole sentence: it is also read where the field and value do not stand beside it. */
export function addProblem(draft: Draft, field: string, message: string): void {
  const value = draft.fields[field];
  draft.problems.push(value === undefined ? { field, message } : { field, value: excerpt(value), message });
}

/** A transform or rule does not take the field's value; `why` goes on from the value: "is not a date". */
export function addRefusal(draft: Draft, field: string, why: string): void {
  addProblem(draft, field, `"${excerpt(draft.fields[field] ?? '', 60)}" ${why}`);
}

/** A field is reported once, by the first rule that it breaks. */
export const hasProblem = (draft: Draft, field: string): boolean =>
  draft.problems.some((problem) => problem.field === field);
