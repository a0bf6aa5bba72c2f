// The copies of records that wait to be parsed: valid until the batch after the next is taken, whatever their sizes.
import { expect, it } from 'vitest';
import type { RecordBatch } from '../../src/feed/batch/record-batch.ts';
import { type WaitingRecord, WaitingRecords } from '../../src/pull/unusable-records.ts';

const KIB = 1024;

/** A batch of one record of this many bytes, all of them `value`, after its prefix. */
const batchOf = (length: number, value: number, packedPosting?: Buffer, prefix = Buffer.alloc(0)): RecordBatch => {
  const bytes = Buffer.alloc(length + 2, 0xff).fill(value, 1, length + 1);
  return {
    bytes,
    prefix,
    startOf: () => 1,
    endOf: () => length + 1,
    packedPostingOf: () => packedPosting,
  } as unknown as RecordBatch;
};

const seen = { hash: Buffer.alloc(16), ordinal: 0 };

it.each([
  ['few small records', [100, 2_000, 300]],
  ['records that outgrow the first memory', [40 * KIB, 20 * KIB, 4 * KIB, 1, 30 * KIB, 500 * KIB]],
  ['a first record larger than the first memory', [65 * KIB, 10]],
  ['exactly the first memory', [64 * KIB, 1]],
  ['more than the memory of a batch', [900 * KIB, 1_100 * KIB, 500 * KIB, 3]],
  ['a record larger than the memory of a batch', [3_000 * KIB, 5]],
])('keeps %s through two more batches', (_, sizes) => {
  const waiting = new WaitingRecords();
  const taken: (readonly WaitingRecord[])[] = [];
  // The rotation begins anew after three batches.
  for (let round = 0; round < 7; round++) {
    sizes.forEach((size, at) => {
      waiting.add(seen, batchOf(size, 16 * round + at), 0);
    });
    for (const [age, batch] of [taken.at(-1), taken.at(-2)].entries()) {
      for (const [at, { bytes }] of (batch ?? []).entries())
        expect(bytes.equals(Buffer.alloc(sizes[at] ?? 0, 16 * (round - 1 - age) + at)), `batch ${age}`).toBe(true);
    }
    taken.push(waiting.takeBatch());
  }
  expect(waiting.takeBatch()).toEqual([]);
});

it('keeps an excerpt of a record that was parsed ahead, and a copy of its posting', () => {
  const waiting = new WaitingRecords();
  const packed = Buffer.from('the posting');
  waiting.add(seen, batchOf(100 * KIB, 1, packed), 0);
  // The record batch is reused at once.
  packed.fill(0);
  waiting.add(seen, batchOf(70 * KIB, 2), 0);
  const [first, second] = waiting.takeBatch();
  expect(first?.bytes.length).toBeLessThan(100 * KIB);
  expect(first?.packedPosting?.toString()).toBe('the posting');
  expect(second?.bytes.equals(Buffer.alloc(70 * KIB, 2))).toBe(true);
});

it('keeps the prefix of a batch with each of its records', () => {
  const waiting = new WaitingRecords();
  const prefix = Buffer.from('header ');
  for (const length of [10, 64 * KIB, 3_000 * KIB]) waiting.add(seen, batchOf(length, 7, undefined, prefix), 0);
  expect(waiting.takeBatch().map(({ bytes }) => [bytes.subarray(0, 7).toString(), bytes.length])).toEqual([
    ['header ', 17],
    ['header ', 64 * KIB + 7],
    ['header ', 3_000 * KIB + 7],
  ]);
});

it('is full at 128 records or a mebibyte', () => {
  const waiting = new WaitingRecords();
  for (let n = 0; n < 127; n++) waiting.add(seen, batchOf(1, 1), 0);
  expect(waiting.isFull).toBe(false);
  waiting.add(seen, batchOf(1, 1), 0);
  expect(waiting.isFull).toBe(true);
  waiting.takeBatch();
  waiting.add(seen, batchOf(KIB * KIB, 1), 0);
  expect(waiting.isFull).toBe(true);
});
