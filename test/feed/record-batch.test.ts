// Record batches return what was added, wherever it came from and however their memory was used before.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type PackedBatch,
  RecordBatch,
  transferredBuffersOf,
  unpackPosting,
} from '../../src/feed/batch/record-batch.ts';
import { HASH_BYTES, recordHash } from '../../src/posting/hash.ts';
import { postingKey } from '../../src/posting/identifiers.ts';
import type { ReadPosting } from '../../src/posting/posting.ts';
import { expectEqual } from '../support/expect-equal.ts';
import { generated } from '../support/extent.ts';

interface Held {
  readonly text: string;
  readonly oversized: number;
  readonly hash: Buffer;
  /** The key of the posting read from it. */
  readonly read?: string;
}

/** Everything that a batch knows about its records. */
const heldIn = (batch: RecordBatch): Held[] =>
  Array.from({ length: batch.count }, (_, record) => ({
    text: batch.bytes.toString('latin1', batch.startOf(record), batch.endOf(record)),
    oversized: batch.oversizedLengthOf(record),
    hash: Buffer.from(batch.hashes.subarray(batch.hashAt(record), batch.hashAt(record) + HASH_BYTES)),
    ...readIn(batch.packedPostingOf(record)),
  }));

const readIn = (packed: Buffer | undefined) =>
  packed === undefined ? {} : { read: unpackPosting(packed).posting.key };

/** Reads each record as a posting whose key contains its length; records of odd length are unreadable. */
const readLength = (record: Buffer): ReadPosting | undefined =>
  record.length % 2 === 1
    ? undefined
    : {
        kind: 'posting',
        posting: {
          key: postingKey(String(record.length)),
          fields: { title: record.toString('latin1') },
          contentHash: Buffer.alloc(HASH_BYTES),
          notes: [],
        },
      };

const sent = (batch: RecordBatch): RecordBatch => {
  const packed = batch.pack();
  return RecordBatch.unpack(structuredClone<PackedBatch>(packed, { transfer: transferredBuffersOf(packed) }));
};

const held = (text: string, oversized = 0): Held => ({
  text,
  oversized,
  hash: recordHash(Buffer.from(text, 'latin1')),
});

describe('RecordBatch', () => {
  it('makes a prefix part of every record, also in another thread, until it is cleared', () => {
    const prefix = Buffer.from('"id","a"\n');
    const batch = RecordBatch.empty();
    const loaded = batch.load(Buffer.from('1,2\n3,4\n'));
    batch.record(loaded, 0, 3, prefix);
    batch.record(loaded, 4, 7, prefix);
    const other = sent(batch);
    const texts = (from: RecordBatch) => [0, 1].map((record) => from.recordOf(record).toString());
    expect(texts(other)).toEqual(['"id","a"\n1,2', '"id","a"\n3,4']);
    other.record(other.loaded, 4, 7, Buffer.from(prefix));
    expect(() => other.record(other.loaded, 4, 7, Buffer.from('"a","id"\n'))).toThrow(/different prefixes/);
    other.hash();
    const [first, second, third] = heldIn(other).map(({ hash }) => hash.toString('hex'));
    expect(third).toBe(second);
    const another = RecordBatch.empty();
    another.record(Buffer.from('1,2'), 0, 3, Buffer.from('"a","id"\n'));
    another.record(Buffer.from('3,4'), 0, 3, Buffer.from('"a","id"\n'));
    another.hash();
    for (const { hash } of heldIn(another))
      expect([first, second, held('1,2').hash.toString('hex')]).not.toContain(hash.toString('hex'));
    another.clear();
    another.record(Buffer.from('1,2'), 0, 3);
    another.hash();
    expect(heldIn(another)).toEqual([held('1,2')]);
  });

  it('holds records from its loaded bytes and from other memory, and the heads of oversized ones', () => {
    const batch = RecordBatch.empty();
    const loaded = batch.load(Buffer.from('..<a/>..<b/>..'), 2);
    batch.record(loaded, 0, 4);
    batch.record(Buffer.from('-<joined/>-'), 1, 10);
    batch.oversized(Buffer.from('<head'), 5e12);
    batch.record(loaded, 6, 10);
    batch.hash();
    expect(heldIn(batch)).toEqual([held('<a/>'), held('<joined/>'), held('<head', 5e12), held('<b/>')]);
  });

  it('holds records from its loaded bytes after its memory has grown or it was loaded again', () => {
    const batch = RecordBatch.empty();
    const first = batch.load(Buffer.from('<a/>'));
    const large = Buffer.alloc(2_000_000, 'x');
    batch.record(large, 0, large.length);
    batch.record(first, 0, 4);
    const second = batch.load(Buffer.from('<b/><c/>'));
    batch.record(first, 0, 4);
    batch.record(second, 4, 8);
    batch.hash();
    expect(heldIn(batch).map(({ text }) => text.slice(0, 4))).toEqual(['xxxx', '<a/>', '<a/>', '<c/>']);
    batch.clear();
    batch.load(Buffer.from('<d/>'));
    batch.record(second, 4, 8);
    expect(heldIn(batch).map(({ text }) => text)).toEqual(['<c/>']);
  });

  it('recognises an oversized record whose head is the whole record', () => {
    const batch = RecordBatch.empty();
    batch.oversized(Buffer.from('<job/>'), 6);
    expect(batch.oversizedLengthOf(0)).toBe(6);
  });

  it('hashes only records without a hash, in either thread', () => {
    const batch = RecordBatch.empty();
    batch.record(Buffer.from('one'), 0, 3);
    batch.hash();
    const there = sent(batch);
    there.hashes.fill(1, there.hashAt(0), there.hashAt(0) + HASH_BYTES);
    there.record(Buffer.from('two'), 0, 3);
    there.hash();
    expect(heldIn(there)).toEqual([{ ...held('one'), hash: Buffer.alloc(HASH_BYTES, 1) }, held('two')]);
  });

  it('leaves records unread if there is no time', () => {
    const batch = RecordBatch.empty();
    for (let record = 0; record < 100; record++) batch.record(Buffer.from('<job/>'), 0, 6);
    let listChecks = 0;
    batch.prefetch(readLength, () => ++listChecks < 4);
    const read = heldIn(batch).filter((record) => record.read === '6').length;
    expect([listChecks, read % 3, read > 3 && read < 50]).toEqual([4, 0, true]);
    expect(heldIn(batch).findLastIndex((record) => record.read === '6')).toBe(read - 1);
  });

  it('holds any records after transfers between threads and reuse', () => {
    const record = fc.tuple(fc.constantFrom('loaded', 'other', 'oversized'), fc.nat({ max: 400_000 }));
    const round = fc.tuple(fc.array(record, { maxLength: 12 }), fc.boolean());
    fc.assert(
      fc.property(fc.array(round, { maxLength: 4 }), (rounds) => {
        let batch = RecordBatch.empty();
        for (const [round, [records, prefetched]] of rounds.entries()) {
          const expected: Held[] = [];
          for (const [at, [kind, length]] of records.entries()) {
            const bytes = Buffer.alloc(length, 65 + ((round * 12 + at) % 26));
            if (kind === 'oversized') batch.oversized(bytes, length + 1);
            else if (kind === 'other') batch.record(bytes, 0, length);
            else batch.record(batch.load(bytes), 0, length);
            const read = prefetched && kind !== 'oversized' && length % 2 === 0 ? { read: String(length) } : {};
            expected.push({ ...held(bytes.toString('latin1'), kind === 'oversized' ? length + 1 : 0), ...read });
          }
          batch = sent(batch);
          batch.hash();
          if (prefetched) batch.prefetch(readLength, () => true);
          batch = sent(batch);
          expectEqual(heldIn(batch), expected);
          batch.clear();
          expect(batch.count).toBe(0);
        }
      }),
      { numRuns: generated(30) },
    );
  });

  it('is not kept after it held a giant record', () => {
    const batch = RecordBatch.empty();
    expect(batch.isWorthKeeping).toBe(true);
    batch.record(Buffer.alloc(9_000_000), 0, 9_000_000);
    batch.clear();
    expect(batch.isWorthKeeping).toBe(false);
  });
});
