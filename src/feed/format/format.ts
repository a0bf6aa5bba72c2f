// What a feed format provides: splitting a document into records without parsing them, and parsing one record.
import { isUtf8 } from 'node:buffer';
import type { ReadingTime } from '../../posting/dates.ts';
import type { KeyRule } from '../../posting/field-mapping.ts';
import type { PostingKey } from '../../posting/identifiers.ts';
import { parseValuePath, textsAt } from '../../posting/paths/value-path.ts';
import type { Problem, RecordTree } from '../../posting/posting.ts';
import { compileKey } from '../../posting/posting-key.ts';

export const unreadableRecord = (why: string): ParsedRecord => ({
  kind: 'unreadable',
  problems: [{ message: `the record can't be read: ${why}` }],
});

/** Parses the text of a record, if its bytes are one. */
export function parseTextOf(bytes: Buffer, parse: (text: string) => ParsedRecord): ParsedRecord {
  if (isUtf8(bytes)) return parse(bytes.toString());
  return unreadableRecord(
    'its bytes are not valid in the encoding of the feed; if the feed is really in another one, such as Windows-1252, configure encoding: windows-1252',
  );
}

/** Why a record is not well-formed, and where. */
export class MalformedRecord extends Error {
  readonly at: number;
  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

/** A language of records, which is parsed strictly. */
interface Syntax {
  readonly name: string;
  /** @throws {MalformedRecord} */
  parse(text: string): RecordTree;
  /** Repairs common faults, so that a record can be parsed as its author meant it. `undefined`: there is nothing to repair. */
  repair(text: string): RepairedText | undefined;
  /** Repairs change no line breaks. */
  readonly keepsLines: boolean;
}

export interface RepairedText {
  readonly text: string;
  /** The repairs, for people: `2 bare "&"`. */
  readonly repairs: readonly string[];
}

/** Parses a record, or reports why it can't be read. @param lenient repair common faults of a record that can't be read otherwise. */
export function parseOrRepair(text: string, syntax: Syntax, lenient: boolean): ParsedRecord {
  const tree = parseStrictly(text, syntax);
  if (!(tree instanceof MalformedRecord)) return { kind: 'tree', tree };
  const repaired = syntax.repair(text);
  const other = repaired && parseStrictly(repaired.text, syntax);
  const isReadable = other !== undefined && !(other instanceof MalformedRecord);
  if (lenient && isReadable) return { kind: 'tree', tree: other, repairs: repaired?.repairs ?? [] };
  // Of several faults, the one that no repair removes is what stops the record.
  const { message } = other instanceof MalformedRecord ? other : tree;
  const before = syntax.keepsLines && other instanceof MalformedRecord ? repaired?.text.slice(0, other.at) : undefined;
  const line = (before ?? text.slice(0, tree.at)).split('\n').length;
  return unreadableRecord(`it is not well-formed ${syntax.name}: ${message} (line ${line} of the record)`);
}

function parseStrictly(text: string, syntax: Syntax): RecordTree | MalformedRecord {
  try {
    return syntax.parse(text);
  } catch (error) {
    if (error instanceof MalformedRecord) return error;
    throw error;
  }
}

/** A format of feeds. Its name is passed between threads; its functions are found by the name (`formatOf`). */
export interface FeedFormat {
  /** Whether the same bytes yield other records later (`SplitOptions.time`). */
  readonly dependsOnTime?: boolean;
  /** Whether the address of a document counts (`SplitOptions.address`). */
  readonly usesAddress?: boolean;
  /** Creates a splitter for one document. Throws `MalformedPathError` for an invalid path. */
  createSplitter(options: SplitOptions, sink: SplitSink): Splitter;
  /** Parses the UTF-8 bytes of one record. Never throws because of the record. */
  parseRecord(bytes: Buffer, context?: ParseContext): ParsedRecord;
  /** Compiles how the key of a record that cannot be parsed is recovered. Throws `MalformedPathError`. */
  compileKeyRecovery(rule: KeyRule): RecoverKey;
}

export interface ParseContext {
  /** Repair common faults of a record that cannot be parsed otherwise. */
  readonly lenient?: boolean;
  /** For CSV. */
  readonly table?: TableLayout;
}

/** How a table is laid out, where its header row does not tell. */
export interface TableLayout {
  /** By default the one that occurs most often in the header row. */
  readonly delimiter?: Delimiter;
  /** The names of the columns of a table without a header row. */
  readonly columns?: readonly string[];
  /** Rows before the header row, or before the first record if there is none. */
  readonly skipRows: number;
  /** Read rows with fewer cells than the header, as if their last cells were empty. */
  readonly allowMissingCells: boolean;
  /** Paths of the key: a table without their columns is refused. */
  readonly keyPaths: readonly string[];
}

export const DELIMITERS = [',', ';', '\t', '|'] as const;

export type Delimiter = (typeof DELIMITERS)[number];

export type ParsedRecord =
  /** `repairs`: what had to be repaired before parsing, for people; usually absent. */
  | { readonly kind: 'tree'; readonly tree: RecordTree; readonly repairs?: readonly string[] }
  | { readonly kind: 'unreadable'; readonly problems: Problem[] };

/** Returns the key that the intact record would have; `undefined` if that is not certain. */
export type RecoverKey = (record: Buffer) => PostingKey | undefined;

export interface SplitOptions {
  /** Path of the records from the root: `source/job`; `*` matches any one name. Prefixes are ignored. */
  readonly recordPath: string;
  /** Paths that declare the number of records, if any. */
  readonly totalPaths: readonly string[];
  /** Larger records are not kept in memory, but handed over as oversized. */
  readonly maxRecordBytes: number;
  /** Accept faults between records that `parseRecord` repairs. */
  readonly lenient?: boolean;
  /** For CSV. */
  readonly table?: TableLayout;
  /** For HTML: the script that holds the records. */
  readonly script?: ScriptRule;
  /** For JSON-LD: the address that the document was requested from, without secrets. */
  readonly address?: string;
  /** For JSON-LD: redirects have led from there to an address that may be another page's. */
  readonly isElsewhere?: boolean | undefined;
  /** For JSON-LD: pages without a posting are complete. */
  readonly acceptsEmptyPages?: boolean;
  /** For JSON-LD: when the documents are read; by default now, by the clock of this process. */
  readonly time?: ReadingTime;
}

/** Which script of an HTML page holds the records. */
export interface ScriptRule {
  /** The attributes that the script must have. */
  readonly attributes: Readonly<Record<string, string>>;
  /** The variable that the JSON is assigned to; by default the script is JSON. */
  readonly variable?: string;
}

/** Receives each record when it ends. Calls are synchronous and in document order. */
export interface SplitSink {
  /**
   * One record's UTF-8 bytes are `buffer[start..end)`; valid only during the call, so copy what you keep.
   * @param prefix bytes that precede every record of the document, such as the header of a table: part of the record for
   * its hash and for `parseRecord`, but shared by all of them. Always the same object in one document.
   */
  record(buffer: Buffer, start: number, end: number, prefix?: Buffer): void;
  /** A record above the limit: its first bytes (at most 2,048, a copy) and its full length. @param prefix as of any record. */
  oversized(head: Buffer, length: number, prefix?: Buffer): void;
}

/** Splits the UTF-8 bytes of one document, in chunks of any size. */
export interface Splitter {
  /** Records handed over so far. */
  readonly records: number;
  /** During the hand-over of a record: where the buffer with the record begins in the document. */
  readonly origin: number;
  /** Why the document is not a feed, or is refused; reading may stop. */
  readonly refusal: string | undefined;
  /** Takes the next bytes, which stay unchanged until the next call. */
  push(chunk: Buffer): void;
  /**
   * Ends the document. @param isEndProven whether its length is known to be right, for formats whose documents do not
   * show their own end.
   */
  finish(isEndProven: boolean): SplitEnd;
}

/** That another page follows a document. */
export interface FollowingPage {
  /** How that is said, for people. */
  readonly said: string;
  /** Its address, if that is said, relative to the document's. */
  readonly address?: string;
  /** Whether it follows one of the lists in the document. */
  readonly isInGroup?: boolean;
}

/** Which of how many pages a document says it is. */
export interface PageNumber {
  /** From 0 or 1. */
  readonly page: number;
  readonly pages: number;
}

/** The result of splitting a document. */
export interface SplitEnd {
  /** Records handed over, including oversized ones. */
  readonly records: number;
  readonly oversizedRecords: number;
  /** Why the document is not a feed, or is refused. */
  readonly refusal?: string;
  /** Every reason why the document is incomplete. */
  readonly shortfalls: readonly string[];
  /** Whether nothing in the document shows where it ends. */
  readonly isOpen?: boolean;
  /** The declared number of records. */
  readonly declaredTotal?: number;
  readonly following?: readonly FollowingPage[];
  readonly pageNumber?: PageNumber | undefined;
  /** Whether the document says that it is of a kind that mostly lists the newest entries. */
  readonly listsEntries?: boolean;
  /** Without records: what the configuration of their path may mean instead, for people. */
  readonly advice?: string;
}

// Recovers the key of an unreadable record from a tree of it in which the unreadable texts are marked.

/** Stands for a text, or a part of one, that can't be read. It is not a character and never part of a key. */
export const UNREADABLE_TEXT = '\uffff';

/** The record's text; what is not valid UTF-8 is marked as {@link UNREADABLE_TEXT}. */
export function textWithFaults(record: Buffer): string {
  const text = record.toString();
  // If the bytes are not valid UTF-8, U+FFFD usually stands for an undecodable one.
  return isUtf8(record) ? text : text.replaceAll('\ufffd', UNREADABLE_TEXT);
}

/** Compiles a function that reads the key, if all texts on its paths are readable and agree. Throws `MalformedPathError`. */
export function compileKeyOfTree(rule: KeyRule): (tree: RecordTree) => PostingKey | undefined {
  const readKey = compileKey(rule);
  const paths = rule.paths.map(parseValuePath);
  return (tree) => {
    for (const path of paths) {
      const values = new Set(textsAt(path, tree).map((value) => value.trim()));
      if (values.size !== 1 || [...values].some((value) => value.includes(UNREADABLE_TEXT))) return undefined;
    }
    const reading = readKey(tree);
    return reading.kind === 'key' ? reading.key : undefined;
  };
}
