// The words of the pure centre: a record as a tree goes in, a posting, an invalid posting or an unreadable record comes out.
import type { PostingKey } from './identifiers.ts';

/**
 * One record, parsed: a tree of plain objects without prototypes. An element without children or attributes is its
 * text; a repeated element is an array in document order; an attribute `a` stands under `@a`, the text of an element
 * that has attributes under `#text`. An element that holds elements has its content, as it stands in the XML, under
 * `#markup` besides. Text is never converted: `007`, `1e5` and `0x10` stay strings.
 */
export type RecordTree = string | readonly RecordTree[] | { readonly [name: string]: RecordTree };

/** Site field name → text. A field that is absent is not sent; an empty string is sent as an empty element. */
export type Fields = Readonly<Record<string, string>>;

/** Fields on their way to the books: texts still, or written already, as the JSON object of them in UTF-8. */
export type KeptFields = Fields | Buffer;

/** One reason why something is not as it should be: in which field, with which value, and what to do about it. */
export interface Problem {
  readonly field?: string;
  /** At most 200 characters of the offending value. */
  readonly value?: string;
  readonly message: string;
  /** A note: the record was not well-formed XML, and was repaired before it was read. */
  readonly repaired?: true;
}

/** A record that became a posting: valid under the site's rules as far as they are known. */
export interface Posting<Kept extends KeptFields = Fields> {
  readonly key: PostingKey;
  readonly fields: Kept;
  /** 16 bytes over the canonical content (names sorted, lengths prefixed). */
  readonly contentHash: Buffer;
  /** What was changed on the way, such as characters removed that XML can't carry. */
  readonly notes: readonly Problem[];
}

/** What reading a record with a usable key gives. Every problem of the record is collected before it is reported. */
export type ReadPosting<Kept extends KeptFields = Fields> =
  | { readonly kind: 'posting'; readonly posting: Posting<Kept> }
  /** Has a key, breaks a rule of the site: a posting that is rejected before it is sent. */
  | { readonly kind: 'invalid'; readonly posting: Posting<Kept>; readonly problems: readonly Problem[] };

/** What reading one record gives. */
export type ReadResult =
  | ReadPosting
  /** Has no usable key: one review entry. */
  | { readonly kind: 'unreadable'; readonly problems: readonly Problem[] };

/** Reads records of one feed for one site. Pure; the same tree gives the same result under the same fingerprint. */
export interface PostingReader {
  /** Hex digest of all that decides the result besides the record: mapping, transforms, site rules, state table. */
  readonly fingerprint: string;
  read(record: RecordTree): ReadResult;
  /** Applies a reviewer's edits to a posting and checks the site's rules again. */
  withFields(posting: Posting, edits: Fields): ReadPosting;
}
