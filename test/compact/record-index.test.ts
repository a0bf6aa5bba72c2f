import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_ORDINAL, RecordIndex, RecordMark } from '../../src/compact/record-index.ts';
import { expectEqual } from '../support/expect-equal.ts';

const hashOf = (text: string): Buffer => createHash('sha1').update(text).digest().subarray(0, 16);
const marks = fc.constantFrom(RecordMark.mapped, RecordMark.superseding, RecordMark.open);

describe('RecordIndex', () => {
  it('behaves like a map, whatever the number of entries', () => {
    const hashes = Array.from({ length: 301 }, (_, n) => hashOf(String(n)));
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 300 }), marks)), fc.nat(50), (entries, expected) => {
        const index = new RecordIndex(expected);
        const model = new Map<number, number>();
        for (const [n, mark] of entries) {
          index.add(hashes[n] as Buffer, mark);
          if (!model.has(n)) model.set(n, mark);
        }
        expect(index.size).toBe(model.size);
        for (let n = 0; n <= 300; n++) {
          const slot = index.find(hashes[n] as Buffer);
          expectEqual(slot < 0 ? undefined : index.mark(slot), model.get(n));
          expectEqual(index.find(Buffer.concat([Buffer.of(7), hashes[n] as Buffer, Buffer.of(7)]), 1), slot);
        }
      }),
    );
  });

  it('finds hashes with the same beginning, also at the end of the table', () => {
    const alike = Array.from({ length: 40 }, (_, at) => {
      const hash = Buffer.alloc(16, 0xff);
      hash[15] = at;
      return hash;
    });
    const index = new RecordIndex(40);
    for (const hash of alike) index.add(hash, RecordMark.mapped);
    expect(new Set(alike.map((hash) => index.find(hash))).size).toBe(40);
    expect(index.find(Buffer.alloc(16, 0xfe))).toBe(-1);
  });

  it('still finds them after growing, and finds no absent hash', () => {
    const alike = Array.from({ length: 300 }, (_, at) => {
      const hash = Buffer.alloc(16, 0xff);
      hash.writeUInt32LE(at, 12);
      return hash;
    });
    const index = new RecordIndex(0);
    for (const hash of alike) index.add(hash, RecordMark.mapped);
    expect(new Set(alike.map((hash) => index.find(hash))).size).toBe(300);
    expect(index.find(Buffer.alloc(16, 0xff))).toBe(-1);
  });

  it('records where a hash was first seen', () => {
    const index = new RecordIndex(1);
    const slot = index.add(hashOf('a'), RecordMark.mapped);
    for (const ordinal of [3, 5]) index.see(slot, ordinal);
    expect(index.seenAt(slot)).toBe(3);
  });

  it('records the largest ordinal next to everything else, and refuses a larger one', () => {
    const index = new RecordIndex(2);
    const [slot, other] = ['a', 'b'].map((text) => index.add(hashOf(text), RecordMark.open)) as [number, number];
    index.account(slot);
    index.see(slot, MAX_ORDINAL);
    expect([index.seenAt(slot), index.isAccounted(slot), index.mark(slot)]).toEqual([
      MAX_ORDINAL,
      true,
      RecordMark.open,
    ]);
    expect(() => index.see(other, MAX_ORDINAL + 1)).toThrow('split it');
    index.unsee(slot);
    expect([index.seenAt(slot), index.isAccounted(slot), index.mark(slot)]).toEqual([undefined, true, RecordMark.open]);
  });

  it('keeps what was seen when it grows, and returns the missing hashes', () => {
    const index = new RecordIndex(0);
    const hashes = Array.from({ length: 200 }, (_, at) => hashOf(`r${at}`));
    for (const [at, hash] of hashes.entries()) {
      const slot = index.add(hash, at % 2 === 0 ? RecordMark.mapped : RecordMark.open);
      if (at < 50) index.see(slot, at);
      else if (at < 60) index.account(slot);
    }
    const hex = (list: Iterable<Buffer>) => [...list].map((hash) => hash.toString('hex')).sort();
    const expected = (from: number, to: number, rest: number) =>
      hex(hashes.filter((_, at) => at >= from && at < to && at % 2 === rest));
    expect(hex(index.missing([RecordMark.mapped]))).toEqual(expected(60, 200, 0));
    expect(hex(index.missing([RecordMark.open]))).toEqual(expected(60, 200, 1));
    expect(hashes.slice(0, 50).map((hash) => index.seenAt(index.find(hash)))).toEqual([...Array(50).keys()]);
    expect(index.mark(index.find(hashes[54] as Buffer))).toBe(RecordMark.mapped);
  });

  it('takes less than 48 bytes per entry for a million entries', () => {
    expect(new RecordIndex(1_000_000).byteLength / 1_000_000).toBeLessThan(48);
  });
});
