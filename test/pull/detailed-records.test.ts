// The trees of details take many times their bytes: of a group, only one is in memory at a time.
import { expect, it } from 'vitest';
import { recordHash } from '../../src/posting/hash.ts';
import { postingKey } from '../../src/posting/identifiers.ts';
import type { RecordTree } from '../../src/posting/posting.ts';
import type { DetailedList } from '../../src/pull/detailed-list.ts';
import { AnsweredRecords, detailedRecords } from '../../src/pull/detailed-list.ts';
import type { ListedRecord, ReadRecord, RecordReader } from '../../src/pull/read-record.ts';

/** Records whose details are their names, and the end of a reader that completes them. */
async function listOf(texts: readonly string[], read: (record: RecordTree, bytes: Buffer) => object) {
  const answered = new AnsweredRecords();
  await answered.add(
    texts.map((text, ordinal) => ({
      record: { hash: recordHash(Buffer.from(text)), ordinal, bytes: Buffer.from(text) },
      outcome: { kind: 'document', bytes: Buffer.from(`detail of ${text}`) },
    })),
  );
  const reader = {
    name: 'detail',
    excerptOf: ({ bytes }: { readonly bytes: Buffer }) => bytes,
    documentsOf: async () => new Map(),
    read,
  };
  return { answered, list: { reader, answered } as unknown as DetailedList };
}

const compileList = () => (bytes: Buffer) => ({ kind: 'listed', key: postingKey(`${bytes}`), tree: `${bytes}` });

it('a detail is parsed only when the record before it is complete', async () => {
  const texts = ['a', 'b', 'c', 'd'];
  const steps: string[] = [];
  const { answered, list } = await listOf(texts, (tree, bytes) => {
    steps.push(`parse the ${bytes}`);
    return { kind: 'record', tree };
  });
  const records = {
    compileList,
    async complete({ key }: ListedRecord): Promise<ReadRecord> {
      await Promise.resolve();
      steps.push(`complete ${key}`);
      return { kind: 'skipped' } as ReadRecord;
    },
  };
  const all = detailedRecords(list, records as unknown as RecordReader);
  for await (const group of all) expect(group).toHaveLength(texts.length);
  expect(steps).toEqual(texts.flatMap((text) => [`parse the detail of ${text}`, `complete ${text}`]));
  await answered.close();
});

it('the postings of many places are passed on before the next record is read', async () => {
  const texts = Array.from({ length: 5 }, (_, at) => `${at}`.padEnd(8_180));
  const { answered, list } = await listOf(texts, (tree) => ({ kind: 'record', tree }));
  const places = Array.from({ length: 500 }, () => ({ kind: 'posting' }));
  const records = {
    compileList,
    complete: ({ key }: ListedRecord) =>
      key === texts[4] ? { kind: 'skipped' } : { kind: 'places', postings: places },
  };
  const sizes: number[] = [];
  // 500 places of 2 × 8 kB are more than 4 MB.
  for await (const group of detailedRecords(list, records as unknown as RecordReader)) sizes.push(group.length);
  expect(sizes).toEqual([1, 1, 1, 1, 1]);
  await answered.close();
});
