// Core types: a record tree is read into a posting, an invalid posting or an unreadable record.
import type { RecordDates } from './dates.ts';
import type { PostingKey } from './identifiers.ts';
import { excerpt, removeIllegalCharacters } from './markup.ts';

/**
 * One parsed record: a tree of plain objects without prototypes. Text is never converted: `007`, `1e5` and `0x10` stay
 * strings.
 *
 * - XML: an element without children or attributes is its text; a repeated element is an array in document order; an
 *   attribute `a` has the name `@a`, the text of an element with attributes `#text`. An element with child elements also
 *   has its verbatim XML content as `#markup`.
 * - JSON: numbers keep their text, `true` and `false` are text, a `null` is absent, a list is an array.
 * - CSV: a column is the text of its cell; columns of one name are an array of their cells.
 */
export type RecordTree = string | readonly RecordTree[] | { readonly [name: string]: RecordTree };

/** Site field name → text. An absent field is not sent; an empty string is sent as an empty element. */
export type Fields = Readonly<Record<string, string>>;

/** One problem: the field, its value, and a message that says what is wrong and what to do. */
export interface Problem {
  readonly field?: string;
  /** At most 200 characters of the offending value. */
  readonly value?: string;
  readonly message: string;
  /** Set on the note that says the record was not well-formed and was repaired before reading. */
  readonly repaired?: true;
  /** Set on the problem of a field that differs between the places of a posting: it remains until the field is edited. */
  readonly choose?: true;
}

/** A record read into fields. Whether it satisfies the known rules of the site is in {@link ReadPosting}. */
export interface Posting<Content = Fields> {
  readonly key: PostingKey;
  readonly fields: Content;
  /** 16 bytes over the canonical content (names sorted, lengths prefixed). */
  readonly contentHash: Buffer;
  /** Changes made while reading, such as removed characters that XML can't carry. */
  readonly notes: readonly Problem[];
  /** Fields in which escaped characters (`R&amp;D`) were unescaped; absent: none. */
  readonly unescaped?: readonly string[];
  /** Fields that got the name of a list of an id and a name (`[52, "Texas"]`); absent: none. */
  readonly named?: readonly string[];
}

/** The result of reading a record with a usable key. All problems of the record are collected. */
export type ReadPosting<Content = Fields> =
  | { readonly kind: 'posting'; readonly posting: Posting<Content> }
  /** Breaks a rule of the site: rejected before sending. */
  | { readonly kind: 'invalid'; readonly posting: Posting<Content>; readonly problems: readonly Problem[] };

/** A record read into a posting for each of its places. */
export interface PostingsOfPlaces<Content = Fields> {
  readonly kind: 'places';
  /** The record's own key, with which the keys of its postings begin. */
  readonly key: PostingKey;
  /** With different keys; at least one. */
  readonly postings: readonly ReadPosting<Content>[];
  /** A place could not be read, and may be that of any posting of the record that is not among these. */
  readonly isUnclear: boolean;
}

/** A rule says that the record is no posting. */
export interface SkippedRecord {
  readonly kind: 'skipped';
  /** The record's key if it has one, unless it is uncertain whether it is skipped. */
  readonly key?: PostingKey | undefined;
  /** Because of a date: since when, in milliseconds since 1970 (`-Infinity`: since ever). */
  readonly byDate?: { readonly since: number };
  /** The clocks of the reading do not agree about the date, so it is not known whether the record is a posting. */
  readonly isUncertain?: true;
}

/** The result of reading one record. */
export type ReadResult =
  | ReadPosting
  | SkippedRecord
  | PostingsOfPlaces
  /** The record becomes one review entry. `key`: absent, because it has none that is usable, unless its places can't be read. */
  | { readonly kind: 'unreadable'; readonly problems: readonly Problem[]; readonly key?: PostingKey };

/** Reads records of one feed for one site. Pure: the same tree, fingerprint and time always give the same result. */
export interface PostingReader {
  /** Hex digest of everything but the record that decides the result: mapping, transforms, site rules, state table. */
  readonly fingerprint: string;
  /** To be awaited before {@link read}, if present: evaluates the expressions of the mapping for this record. */
  readonly prepare?: (record: RecordTree) => Promise<void>;
  /** @param dates see `Holds`; it collects how long the result is valid */
  read(record: RecordTree, dates?: RecordDates): ReadResult;
  /**
   * Applies a reviewer's edits to a posting and checks the site's rules again. `problems`: those found in the feed's texts;
   * they remain for fields that were not edited.
   */
  withFields(posting: Posting, edits: Fields, problems?: readonly Problem[]): ReadPosting;
}

// Collects the fields, notes and problems found while reading one record, until the posting is built from them.

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
