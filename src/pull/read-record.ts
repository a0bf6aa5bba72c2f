// Turns one record into its posting, as the reviewers' edits want it, or says why the record is unreadable.
import { readingIn } from '../feed/batch/written-reading.ts';
import type { ParsedRecord } from '../feed/format/format.ts';
import { formatOf } from '../feed/format/formats.ts';
import type { PostingKey } from '../posting/identifiers.ts';
import type { Problem, ReadPosting } from '../posting/posting.ts';
import type { FieldsToStore } from '../store/pull/pull-transaction.ts';
import type { Edits } from '../store/review/override.ts';
import type { RecordRules } from './feed-setup.ts';
import type { WaitingRecord } from './waiting-records.ts';

/** A record without a posting. */
export interface Unreadable {
  readonly kind: 'unreadable';
  readonly problems: readonly Problem[];
  /** The key, recovered from the bytes if that is certain. */
  readonly key: PostingKey | undefined;
}

/** A record that is no posting. */
export interface Skipped {
  readonly kind: 'skipped';
}

export type ReadRecord = ReadPosting<FieldsToStore> | Unreadable | Skipped;

export interface RecordReader {
  /** A promise only if the mapping has expressions: awaiting each record would slow down all feeds. */
  read(record: Pick<WaitingRecord, 'bytes' | 'reading'>): ReadRecord | Promise<ReadRecord>;
  /** The key of a record of which there are only the first bytes, if that is certain. */
  recoverKey(head: Buffer): PostingKey | undefined;
}

/** Compiles how the records of a feed are parsed and edited. Throws `MalformedPathError` for an invalid key path. */
export function compileRecordReader(rules: RecordRules, edits: Edits): RecordReader {
  const { mapping, reader, lenient = false, table } = rules;
  const format = formatOf(rules.format);
  const recoverKey = format.compileKeyRecovery(mapping.key);

  const parse = (bytes: Buffer): ParsedRecord => format.parseRecord(bytes, { lenient, table });

  const finish = (bytes: Buffer, parsed: ParsedRecord): ReadRecord => {
    if (parsed.kind === 'unreadable') return { ...parsed, key: recoverKey(bytes) };
    const read = reader.read(parsed.tree);
    if (read.kind === 'skipped') return read;
    // The record could be parsed, so it really has no usable key, and there is nothing to recover.
    if (read.kind === 'unreadable') return { ...read, key: undefined };
    return edit(parsed.repairs === undefined ? read : withRepairs(read, parsed.repairs));
  };

  const edit = (read: ReadPosting): ReadPosting => {
    const fields = edits.for(read.posting);
    if (fields === undefined) return read;
    return reader.withFields(read.posting, fields, read.kind === 'invalid' ? read.problems : []);
  };

  return {
    read({ bytes, reading }) {
      // Records are parsed ahead only if no posting has been edited.
      if (reading !== undefined) return readingIn(reading);
      const parsed = parse(bytes);
      if (reader.prepare === undefined || parsed.kind === 'unreadable') return finish(bytes, parsed);
      return reader.prepare(parsed.tree).then(() => finish(bytes, parsed));
    },
    recoverKey,
  };
}

function withRepairs(read: ReadPosting, repairs: readonly string[]): ReadPosting {
  const message = `the record is not well-formed, and was repaired: ${repairs.join(', ')}`;
  const notes = [...read.posting.notes, { message, repaired: true as const }];
  return { ...read, posting: { ...read.posting, notes } };
}
