// Turns one record into its posting, as the reviewers' edits want it, or says why the record is unreadable.
import { unpackPosting } from '../feed/batch/record-batch.ts';
import type { ParsedRecord } from '../feed/format/format.ts';
import { formatOf } from '../feed/format/formats.ts';
import { startClock } from '../feed/reading-clock.ts';
import { REMOVED_SECRET, type SecretMask } from '../feed/source/sources.ts';
import { RecordDates } from '../posting/dates.ts';
import type { PostingKey } from '../posting/identifiers.ts';
import { dateConditionsOf } from '../posting/paths/mapping-paths.ts';
import type { PostingsOfPlaces, Problem, ReadPosting, RecordTree, SkippedRecord } from '../posting/posting.ts';
import { compileListReader } from '../posting/reader.ts';
import type { Edits } from '../store/change/edit.ts';
import type { FieldsToStore } from '../store/pull/pull-transaction.ts';
import type { RecordRules } from './feed-setup.ts';
import type { WaitingRecord } from './unusable-records.ts';

/** A record without a posting. */
export interface Unreadable {
  readonly kind: 'unreadable';
  readonly problems: readonly Problem[];
  /** The key, recovered from the bytes if that is certain. */
  readonly key: PostingKey | undefined;
}

/** How long what was read of a record is valid. Only for mappings with conditions on dates. */
export interface Validity {
  /** When the record may become something else without being changed, in milliseconds since 1970; `Infinity`: never. */
  readonly until?: number;
}

/** A record whose detail was not requested: nothing is known about it but its key. */
export interface Postponed {
  readonly kind: 'postponed';
  readonly key: PostingKey;
}

/** A record of a list whose detail is still to be read, to be passed to `complete`. */
export interface ListedRecord {
  readonly kind: 'listed';
  readonly key: PostingKey;
  readonly tree: RecordTree;
  /** As the source sent it, for the request of its detail. Only this has the credentials that the source repeats. */
  readonly asSent: RecordTree;
  readonly repairs: readonly string[] | undefined;
}

export type ReadRecord = (ReadPosting<FieldsToStore> | PostingsOfPlaces<FieldsToStore> | Unreadable | SkippedRecord) &
  Validity;

export interface RecordReader {
  /** A promise only if the mapping has expressions: awaiting each record would slow down all feeds. */
  read(record: Pick<WaitingRecord, 'bytes' | 'packedPosting'>): ReadRecord | Promise<ReadRecord>;
  /** Reads what needs no detail. @param detail the name of the detail in the record. */
  compileList(detail: string): (bytes: Buffer) => ListedRecord | Unreadable | (SkippedRecord & Validity);
  /** Reads a record with its detail. */
  complete(listed: ListedRecord, tree: RecordTree, bytes: Buffer): ReadRecord | Promise<ReadRecord>;
  /** The key of a record of which there are only the first bytes, if that is certain. */
  recoverKey(head: Buffer): PostingKey | undefined;
}

type ParsedTree = Extract<ParsedRecord, { kind: 'tree' }> & { readonly asSent: RecordTree };
type Parsed = ParsedTree | Extract<ParsedRecord, { kind: 'unreadable' }>;

/** Compiles how the records of a feed are parsed. What they repeat of the credentials of their source ends here. */
export function compileParser({ format, lenient, table, mask }: RecordRules): (bytes: Buffer) => Parsed {
  const { parseRecord } = formatOf(format);
  return (bytes) => {
    const parsed = parseRecord(bytes, { lenient, table });
    const mayHold = mask?.mayHold(bytes) === true;
    if (parsed.kind === 'tree')
      return { ...parsed, tree: mayHold ? mask.tree(parsed.tree) : parsed.tree, asSent: parsed.tree };
    if (!mayHold) return parsed;
    return { ...parsed, problems: parsed.problems.map((problem) => withoutSecrets(problem, mask)) };
  };
}

const withoutSecrets = ({ value, message, ...problem }: Problem, mask: SecretMask): Problem => ({
  ...problem,
  message: mask.text(message),
  ...(value === undefined ? {} : { value: mask.text(value) }),
});

/** Compiles how the records of a feed are parsed and edited. Throws `MalformedPathError` for an invalid key path. */
export function compileRecordReader(rules: RecordRules, edits: Edits): RecordReader {
  const { mapping, reader, mask } = rules;
  const keyInBytes = formatOf(rules.format).compileKeyRecovery(mapping.key);
  const parse = compileParser(rules);

  const recoverKey = (bytes: Buffer): PostingKey | undefined => {
    const key = keyInBytes(bytes);
    return key === undefined || mask?.mayHold(bytes) !== true ? key : (mask.text(key) as PostingKey);
  };

  const clock = dateConditionsOf(mapping).length === 0 ? undefined : (rules.clock ?? startClock());
  const newDates = () => (clock === undefined ? undefined : new RecordDates(clock.time));
  const withValidity = <Read extends object>(read: Read, dates: RecordDates | undefined): Read & Validity =>
    dates === undefined ? read : { ...read, until: dates.until };

  const finish = (bytes: Buffer, parsed: Parsed): ReadRecord => {
    if (parsed.kind === 'unreadable') return { ...parsed, key: recoverKey(bytes) };
    const dates = newDates();
    return withValidity(finishTree(parsed, dates), dates);
  };

  const finishTree = (parsed: ParsedTree, dates: RecordDates | undefined): ReadRecord => {
    const read = reader.read(parsed.tree, dates);
    if (read.kind === 'skipped') return read;
    // The record could be parsed, so if it has no usable key, there is nothing to recover.
    if (read.kind === 'unreadable') return { ...read, key: read.key };
    const noted = (one: ReadPosting) => {
      const repaired = parsed.repairs === undefined ? one : withRepairs(one, parsed.repairs);
      return parsed.tree === parsed.asSent ? repaired : withRemovals(repaired);
    };
    const editOne = (one: ReadPosting) => edit(noted(one));
    return read.kind === 'places' ? { ...read, postings: read.postings.map(editOne) } : editOne(read);
  };

  const edit = (read: ReadPosting): ReadPosting => {
    const fields = edits.for(read.posting);
    if (fields === undefined) return read;
    return reader.withFields(read.posting, fields, read.kind === 'invalid' ? read.problems : []);
  };

  const prepared = (bytes: Buffer, parsed: ParsedTree): ReadRecord | Promise<ReadRecord> =>
    reader.prepare === undefined
      ? finish(bytes, parsed)
      : reader.prepare(parsed.tree).then(() => finish(bytes, parsed));

  return {
    compileList(detail) {
      const readList = compileListReader(mapping, detail);
      return (bytes) => {
        const parsed = parse(bytes);
        if (parsed.kind === 'unreadable') return { ...parsed, key: recoverKey(bytes) };
        const dates = newDates();
        const listed = readList(parsed.tree, dates);
        if (listed.kind === 'unreadable') return { ...listed, key: undefined };
        return listed.kind === 'skipped'
          ? withValidity(listed, dates)
          : { kind: 'listed', key: listed.key, tree: parsed.tree, asSent: parsed.asSent, repairs: parsed.repairs };
      };
    },
    complete: ({ repairs, asSent }, tree, bytes) => prepared(bytes, { kind: 'tree', tree, asSent, repairs }),
    read({ bytes, packedPosting }) {
      // Records are parsed ahead only if no posting has been edited.
      if (packedPosting !== undefined) return unpackPosting(packedPosting);
      const parsed = parse(bytes);
      return parsed.kind === 'unreadable' ? finish(bytes, parsed) : prepared(bytes, parsed);
    },
    recoverKey,
  };
}

/** Notes each field whose text a secret was removed from. */
function withRemovals(read: ReadPosting): ReadPosting {
  const isRemoved = (text: string): boolean => text.toLowerCase().includes(REMOVED_SECRET);
  const { key, fields, notes } = read.posting;
  const names = Object.entries(fields).flatMap(([name, text]) => (isRemoved(text) ? [name] : []));
  if (names.length === 0 && !isRemoved(key)) return read;
  const message = `the record repeats credentials of its source, which were replaced by ${REMOVED_SECRET}`;
  const removals =
    names.length === 0 ? [{ message: `${message} in its key` }] : names.map((field) => ({ field, message }));
  return { ...read, posting: { ...read.posting, notes: [...notes, ...removals] } };
}

function withRepairs(read: ReadPosting, repairs: readonly string[]): ReadPosting {
  const message = `the record is not well-formed, and was repaired: ${repairs.join(', ')}`;
  const notes = [...read.posting.notes, { message, repaired: true as const }];
  return { ...read, posting: { ...read.posting, notes } };
}
