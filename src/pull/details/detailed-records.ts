// Reads the records of a list with the details of their postings, group by group.
import type { PostingKey } from '../../posting/identifiers.ts';
import { PLACES_BYTES, type PlannedRecord } from '../plan-group.ts';
import type { ListedRecord, Postponed, ReadRecord, RecordReader } from '../read-record.ts';
import type { AnsweredRecord } from './answered-records.ts';
import { GROUP_LIMITS } from './detail-reader.ts';
import type { DetailedList } from './detailed-list.ts';
import type { ListRecord } from './record-spool.ts';

/** What was read of a record. */
export interface DetailedRecord {
  readonly record: PlannedRecord;
  readonly read: ReadRecord | Postponed;
  /** Length of the record and its detail. */
  readonly bytes: number;
}

/** All records whose details were looked up or requested, in the order of the list. Can be read once. */
export async function* detailedRecords(
  list: DetailedList,
  records: RecordReader,
): AsyncGenerator<readonly DetailedRecord[]> {
  const readList = records.compileList(list.reader.name);
  for await (const group of list.answered.groups(GROUP_LIMITS)) {
    const documents = await list.reader.documentsOf(group.flatMap(({ outcome }) => outcome ?? []));
    let read: DetailedRecord[] = [];
    let ofPlaces = 0;
    for (const answered of group) {
      const { record } = answered;
      const listed = readList(record.bytes);
      const one =
        listed.kind === 'listed'
          ? await complete(list, records, answered, listed, documents)
          : { record, read: listed, bytes: record.bytes.length };
      read.push(one);
      ofPlaces += one.read.kind === 'places' ? one.bytes * one.read.postings.length : 0;
      if (ofPlaces < PLACES_BYTES) continue;
      yield read;
      read = [];
      ofPlaces = 0;
    }
    if (read.length > 0) yield read;
  }
}

async function complete(
  { reader }: DetailedList,
  records: RecordReader,
  { record, outcome }: AnsweredRecord,
  listed: ListedRecord,
  documents: ReadonlyMap<string, Buffer>,
): Promise<DetailedRecord> {
  const { key } = listed;
  switch (outcome?.kind) {
    case undefined:
    case 'stored':
    case 'document': {
      const bytes =
        outcome?.kind === 'document' ? outcome.bytes : outcome && documents.get(outcome.listHash.toString('hex'));
      if (bytes === undefined) {
        reader.postponeLate();
        return { record, read: { kind: 'postponed', key }, bytes: record.bytes.length };
      }
      const excerpt = reader.excerptOf(record, bytes);
      const detailed = reader.read(listed.tree, bytes);
      if (detailed.kind === 'failed') return failedDetail(record, key, { ...detailed, excerpt });
      const { tree, repairs = [] } = detailed;
      const inDetail = repairs.map((repair) => `${repair} (in its detail)`);
      const all = inDetail.length === 0 ? listed.repairs : [...(listed.repairs ?? []), ...inDetail];
      const read = await records.complete({ ...listed, repairs: all }, tree, excerpt);
      return { record: { ...record, bytes: excerpt }, read, bytes: record.bytes.length + bytes.length };
    }
    case 'failed':
      return failedDetail(record, key, outcome);
    case 'postponed':
      return { record, read: { kind: 'postponed', key }, bytes: record.bytes.length };
    default:
      return outcome satisfies never;
  }
}

function failedDetail(
  record: ListRecord,
  key: PostingKey,
  { message, excerpt }: { readonly message: string; readonly excerpt: Buffer },
): DetailedRecord {
  const problems = [{ message: `the detail of the posting can't be had: ${message}` }];
  return { record: { ...record, bytes: excerpt }, read: { kind: 'unreadable', problems, key }, bytes: excerpt.length };
}
