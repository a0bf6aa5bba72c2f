// Splits and parses the first records of a document's beginning.
import { isWebAddress } from '../config/scheme-sources.ts';
import type { RecordBatch } from '../feed/batch/record-batch.ts';
import { startSplitting } from '../feed/batch/start-splitting.ts';
import type { FeedSource } from '../feed/feed-reading.ts';
import { formatOf } from '../feed/format/formats.ts';
import { publicAddress } from '../feed/source/sources.ts';
import type { RecordTree } from '../posting/posting.ts';

const SAMPLED_RECORDS = 200;

export interface SampledRecords {
  readonly trees: readonly RecordTree[];
  /** Records that cannot be parsed. */
  readonly unreadable: number;
  /** Records in the bytes, sampled or not. */
  readonly records: number;
  /** The last record in the bytes, sampled or not; `undefined` if it cannot be parsed. */
  readonly last: RecordTree | undefined;
  /** Why the document is not read at all. */
  readonly refusal: string | undefined;
}

/**
 * @param source how the bytes are split and parsed; its address is not used. @param address the one that they come from, if it
 * is a web address.
 */
export async function sampleRecords(bytes: Buffer, source: FeedSource, address = ''): Promise<SampledRecords> {
  const { format, recordPath, lenient, table, script, acceptsEmptyPages, limits } = source;
  const trees: RecordTree[] = [];
  let unreadable = 0;
  let records = 0;
  let last: RecordTree | undefined;
  const parse = (record: Buffer) => formatOf(format).parseRecord(record, { lenient, table });
  const take = (batch: RecordBatch) => {
    records += batch.count;
    const end = batch.count === 0 ? undefined : parse(batch.recordOf(batch.count - 1));
    if (end !== undefined) last = end.kind === 'tree' ? end.tree : undefined;
    for (let record = 0; record < batch.count && trees.length + unreadable < SAMPLED_RECORDS; record++) {
      const parsed = parse(batch.recordOf(record));
      if (parsed.kind === 'tree') trees.push(parsed.tree);
      else unreadable++;
    }
  };
  const requested = isWebAddress(address) && URL.canParse(address) ? publicAddress(address) : undefined;
  const options = { format, recordPath, lenient, table, script, acceptsEmptyPages, address: requested };
  let refusal: string | undefined;
  const splitting = startSplitting(
    { ...options, totalPaths: [], maxRecordBytes: limits.maxRecordBytes },
    { take, drain: () => undefined },
    { threadsFrom: Number.POSITIVE_INFINITY },
  );
  try {
    await splitting.push(bytes);
    refusal = splitting.refusal;
    await splitting.endDocument(true);
    refusal ??= splitting.refusal;
  } finally {
    await splitting.close();
  }
  return { trees, unreadable, records, last, refusal };
}

/** Repairs records if that makes more of them readable. */
export async function sampleLeniently(
  bytes: Buffer,
  source: FeedSource,
  address?: string,
): Promise<{ readonly sample: SampledRecords; readonly lenient: boolean }> {
  const sample = await sampleRecords(bytes, source, address);
  if (sample.unreadable === 0) return { sample, lenient: false };
  const repaired = await sampleRecords(bytes, { ...source, lenient: true }, address);
  const helps = repaired.unreadable < sample.unreadable;
  return { sample: helps ? repaired : sample, lenient: helps };
}
