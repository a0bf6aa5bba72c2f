// Collects the fields, notes and problems found while reading one record, until the posting is built from them.
import type { Problem } from './posting.ts';
import { excerpt, removeIllegalCharacters } from './xml-characters.ts';

/** A posting under construction. */
export interface Draft {
  /** Inherits nothing, so no field name has a special meaning. */
  readonly fields: Record<string, string>;
  readonly notes: Problem[];
  /** Fields in which escaped characters were unescaped. */
  readonly unescaped: string[];
  /** Fields that got the name of a list of an id and a name. */
  readonly named: string[];
  readonly problems: Problem[];
}

export function newDraft(fields: Readonly<Record<string, string>> = {}, notes: readonly Problem[] = []): Draft {
  return { fields: Object.assign(newBare(), fields), notes: [...notes], unescaped: [], named: [], problems: [] };
}

/**
 * Sets a field to clean text: `\n` line ends, trimmed, without characters that XML can't carry. Empty text removes it.
 */
export function setField(draft: Draft, field: string, text: string): void {
  const { text: legal, removed } = removeIllegalCharacters(text);
  if (removed.length > 0) {
    const characters = removed.length === 1 ? '1 character' : `${removed.length} characters`;
    draft.notes.push({ field, value: excerpt(text), message: `removed ${characters} that XML can't carry` });
  }
  const clean = (legal.includes('\r') ? legal.replace(/\r\n?/g, '\n') : legal).trim();
  if (clean === '') delete draft.fields[field];
  else draft.fields[field] = clean;
}

/** `message` is a whole sentence, because it is also shown without the field and the value. */
export function addProblem(draft: Draft, field: string, message: string): void {
  const value = draft.fields[field];
  draft.problems.push(value === undefined ? { field, message } : { field, value: excerpt(value), message });
}

/** A transform or rule refuses the field's value. `why` continues the sentence after the value: "is not a date". */
export function addRefusal(draft: Draft, field: string, why: string): void {
  addProblem(draft, field, `"${excerpt(draft.fields[field] ?? '', 60)}" ${why}`);
}

/** A field is reported only once, by the first rule that it breaks. */
export const hasProblem = (draft: Draft, field: string): boolean =>
  draft.problems.some((problem) => problem.field === field);

/**
 * Like `Object.create(null)`, but V8 gives the instances hidden classes: faster for objects that share their names with
 * thousands of others, slower if the names differ each time. Use it for names from the configuration, not from a feed.
 */
const Bare = function Bare() {} as unknown as new () => Record<string, string>;
Bare.prototype = Object.freeze(Object.create(null));

/** Creates an empty object in which `__proto__` and `constructor` are ordinary names. */
const newBare = (): Record<string, string> => new Bare();
