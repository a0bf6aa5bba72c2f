// A record above the size limit is one unreadable record, wherever it stands and however its bytes arrive.
import { describe, expect, it } from 'vitest';
import type { RecordBatch } from '../../src/feed/batch/record-batch.ts';
import type { Splitting, SplittingOptions } from '../../src/feed/batch/splitting.ts';
import { LocalSplitting, startSplitting } from '../../src/feed/batch/start-splitting.ts';
import type { FormatName } from '../../src/feed/format/format-kinds.ts';
import { HASH_BYTES } from '../../src/posting/hash.ts';
import { cutInto, splitAs } from './collect.ts';

interface Seen {
  readonly text: string;
  readonly length: number;
  readonly hash: string;
}

/** What a sink is handed, batch by batch. */
async function seen(
  start: (sink: ConstructorParameters<typeof LocalSplitting>[1]) => Splitting,
  chunks: readonly Buffer[],
) {
  const records: Seen[] = [];
  const take = (batch: RecordBatch): void => {
    for (let record = 0; record < batch.count; record++) {
      records.push({
        text: batch.recordOf(record).toString(),
        length: batch.oversizedLengthOf(record),
        hash: batch.hashes.toString('hex', batch.hashAt(record), batch.hashAt(record) + HASH_BYTES),
      });
    }
  };
  const splitting = start({ take, drain: () => undefined });
  for (const chunk of chunks) await splitting.push(chunk);
  const end = await splitting.endDocument(true);
  await splitting.close();
  return { records, end };
}

interface Shape {
  readonly format: FormatName;
  readonly recordPath: string;
  readonly record: (id: string, text: string) => string;
  readonly document: (records: readonly string[]) => string;
}

const xmlRecord: Shape['record'] = (id, text) => `<job><id>${id}</id><text>${text}</text></job>`;
const jsonRecord: Shape['record'] = (id, text) => JSON.stringify({ id, text });
const jsonLdRecord: Shape['record'] = (id, text) =>
  JSON.stringify({ '@type': 'JobPosting', url: id, description: text });

const SHAPES: readonly Shape[] = [
  {
    format: 'csv',
    recordPath: '',
    record: (id, text) => `${id},${text}`,
    document: (all) => `id,text\n${all.join('\n')}\n`,
  },
  {
    format: 'csv',
    recordPath: '',
    record: (id, text) => `"${id}","${text}"`,
    document: (all) => `id,text\r\n${all.join('\r\n')}`,
  },
  { format: 'xml', recordPath: 'source/job', record: xmlRecord, document: (all) => `<source>${all.join('')}</source>` },
  { format: 'json', recordPath: 'jobs', record: jsonRecord, document: (all) => `{"jobs":[${all.join(',')}]}` },
  { format: 'jsonl', recordPath: '', record: jsonRecord, document: (all) => `${all.join('\n')}\n` },
  {
    format: 'html',
    recordPath: 'jobs',
    record: jsonRecord,
    document: (all) => `<html><script id="d">{"jobs":[${all.join(',')}]}</script></html>`,
  },
  { format: 'json-ld', recordPath: '', record: jsonLdRecord, document: (all) => `[${all.join(',')}]` },
];

const SIZES: readonly (readonly number[])[] = [[1e9], [7], [100, 1], [1_000], [2_049, 3], [4_000]];

describe.each(SHAPES)('$format', ({ format, recordPath, record, document }) => {
  const options: SplittingOptions = {
    format,
    recordPath,
    totalPaths: [],
    maxRecordBytes: 3_000,
    script: { attributes: { id: 'd' } },
  };
  const small = ['a', 'b', 'c'].map((id) => record(id, 'x'.repeat(10)));

  it.each([0, 1, 3])('hands over a large record as one, after %i others', async (before) => {
    const all = [...small.slice(0, before), record('large', 'y'.repeat(9_000)), ...small.slice(before)];
    const bytes = Buffer.from(document(all));
    const expected = await seen((sink) => new LocalSplitting(options, sink), [bytes]);
    expect(expected.end).toMatchObject({ records: 4, oversizedRecords: 1, shortfalls: [] });
    expect(expected.end.refusal).toBeUndefined();
    expect(expected.records.map(({ length }) => length > 0)).toEqual([0, 1, 2, 3].map((at) => at === before));
    for (const sizes of SIZES) {
      const chunks = cutInto(bytes, sizes);
      expect((await seen((sink) => new LocalSplitting(options, sink), chunks)).records).toEqual(expected.records);
    }
    const inThread = await seen((sink) => startSplitting(options, sink, { threadsFrom: 10 }), cutInto(bytes, [1_000]));
    expect(inThread.records).toEqual(expected.records);
  });

  it('says the same of one with a limit below the part that is kept', () => {
    const all = document([...small.slice(0, 1), record('large', 'y'.repeat(900)), ...small.slice(1)]);
    const [first, ...others] = SIZES.map((sizes) =>
      splitAs(format, all, { recordPath, maxRecordBytes: 200, script: { attributes: { id: 'd' } } }, sizes),
    );
    expect(first?.oversized).toHaveLength(1);
    for (const other of others) expect(other).toEqual(first);
  });
});
