// What an edit replaced, for the audit trail: the beginning of each value that the posting had.
import type { Fields } from '../posting/posting.ts';
import { excerpt } from '../posting/xml-characters.ts';

/** Longer values are cut: the audit has one row for each of perhaps 100,000 edited postings. */
const MOST_CHARACTERS = 1_000;

/** Field → what it had before the edit; `null`: the posting had no such field. */
export const formerValues = (fields: Fields | undefined, edits: Fields): Readonly<Record<string, string | null>> =>
  Object.fromEntries(
    Object.keys(edits).map((field) => [
      field,
      fields !== undefined && Object.hasOwn(fields, field) ? excerpt(fields[field] ?? '', MOST_CHARACTERS) : null,
    ]),
  );
