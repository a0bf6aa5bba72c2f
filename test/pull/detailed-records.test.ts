// The trees of details take many times their bytes: of a group, only one is in memory at a time.
import { expect, it } from 'vitest';
import { recordHash } from '../../src/posting/hash.ts';
import { postingKey } from '../../src/posting/identifiers.ts';
import type { RecordTree } from '../../src/posting/posting.ts';
import { AnsweredRecords } from '../../src/pull/details/answered-records.ts';
import type { DetailedList } from '../../src/pull/details/detailed-list.ts';
import { detailedRecords } from '../../src/pull/details/detailed-records.ts';
import type { ListedRecord, ReadRecord, RecordReader } from '../../src/pull/read-record.ts';

it('a detail is parsed only when the record before it is complete', async () => {
  const answered = new AnsweredRecords();
  const texts = ['a', 'b', 'c', 'd'];
  await answered.add(
    texts.map((text, ordinal) => ({
      record: { hash: recordHash(Buffer.from(text)), ordinal, bytes: Buffer.from(text) },
      outcome: { kind: 'document', bytes: Buffer.from(`detail of ${text}`) },
    })),
  );
  const steps: string[] = [];
  const reader = {
    name: 'detail',
    excerptOf: ({ bytes }: { readonly bytes: Buffer }) => bytes,
    documentsOf: async () => new Map(),
    read(record: RecordTree, bytes: Buffer) {
      steps.push(`parse the ${bytes}`);
      return { kind: 'record', tree: record };
    },
  };
  const records = {
    compileList: () => (bytes: Buffer) => ({ kind: 'listed', key: postingKey(`${bytes}`), tree: `${bytes}` }),
    async complete({ key }: ListedRecord): Promise<ReadRecord> {
      await Promise.resolve();
      steps.push(`complete ${key}`);
      return { kind: 'skipped' } as ReadRecord;
    },
  };
  const list = { reader, answered } as unknown as DetailedList;
  const all = detailedRecords(list, records as unknown as RecordReader);
  for await (const group of all) expect(group).toHaveLength(texts.length);
  expect(steps).toEqual(texts.flatMap((text) => [`parse the detail of ${text}`, `complete ${text}`]));
  await answered.close();
});
