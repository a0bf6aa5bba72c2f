import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contentHash, HASH_BYTES, interpretedHash, recordHash, writeRecordHash } from '../../src/posting/hash.ts';
import { expectEqual } from '../support/expect-equal.ts';
import { generated } from '../support/extent.ts';

const fields = fc.dictionary(
  fc.string({ unit: fc.constantFrom(...'ab:1') }),
  fc.string({ unit: fc.constantFrom(...'ab:1') }),
  {
    maxKeys: 4,
  },
);

describe('contentHash', () => {
  test('has 16 bytes', () => {
    expect(contentHash({ title: 'Nurse' })).toHaveLength(HASH_BYTES);
  });

  test('does not depend on the order of the fields', () => {
    expect(contentHash({ a: '1', b: '2' })).toEqual(contentHash({ b: '2', a: '1' }));
  });

  const different: [name: string, one: Record<string, string>, other: Record<string, string>][] = [
    ['an empty and a missing field', { a: '' }, {}],
    ['a shifted boundary between values', { a: '12', b: '3' }, { a: '1', b: '23' }],
    ['a shifted boundary between name and value', { ab: 'c' }, { a: 'bc' }],
    ['one field and two', { a: '1:b1:2' }, { a: '', b: '2' }],
    ['swapped values', { a: '1', b: '2' }, { a: '2', b: '1' }],
    ['leading zeros', { a: '007' }, { a: '7' }],
    ['case', { a: 'Nurse' }, { a: 'nurse' }],
  ];
  test.each(different)('distinguishes %s', (_name, one, other) => {
    expect(contentHash(one)).not.toEqual(contentHash(other));
  });

  test('is equal only for equal fields', () => {
    fc.assert(
      fc.property(fields, fields, (one, other) => {
        const sorted = (set: Record<string, string>) => JSON.stringify(Object.entries(set).sort());
        expectEqual(contentHash(one).equals(contentHash(other)), sorted(one) === sorted(other));
      }),
      { numRuns: generated(2_000) },
    );
  });

  test('is the first 16 bytes of the SHA-256 of lengths, names and values, however long they are', () => {
    const text = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', 'é', '–', '𝄞') }),
      fc.string({ unit: fc.constantFrom('a', '–'), minLength: 250, maxLength: 260 }),
      fc.constantFrom('–'.repeat(21_000), 'a'.repeat(70_000), '𝄞'.repeat(40_000)),
    );
    fc.assert(
      fc.property(fc.dictionary(text, text, { maxKeys: 4 }), (some) => {
        let canonical = '';
        for (const name of Object.keys(some).sort()) {
          canonical += `${name.length}:${name}${some[name]?.length}:${some[name]}`;
        }
        const expected = createHash('sha256').update(canonical).digest().subarray(0, HASH_BYTES);
        expectEqual(contentHash(some), expected);
      }),
      { numRuns: generated(500) },
    );
  });

  test('never changes between versions, because the store holds older hashes', () => {
    expect(contentHash({ title: 'Nurse', 'location-state': 'Maine' }).toString('hex')).toBe(
      '43b2d20219717c00b62915a0698fe183',
    );
  });
});

describe('a record hash', () => {
  test('is the first 16 bytes of the SHA-1 of exactly these bytes', () => {
    const buffer = Buffer.from('<source><job>1</job><job>2</job></source>');
    const expected = createHash('sha1').update('<job>1</job>').digest().subarray(0, HASH_BYTES);
    expect(recordHash(buffer.subarray(8, 20))).toEqual(expected);
    const target = Buffer.alloc(HASH_BYTES + 4, 7);
    writeRecordHash(buffer, 8, 20, target, 2);
    expect(target).toEqual(Buffer.concat([Buffer.of(7, 7), expected, Buffer.of(7, 7)]));
  });

  test('differs under each interpretation, and can be recovered', () => {
    const hashes = Buffer.concat([Buffer.of(7), recordHash(Buffer.from('<job>1</job>'))]);
    const ways = ['one', 'another'].map((way) => recordHash(Buffer.from(way)));
    const stored = ways.map((way) => interpretedHash(hashes, 1, way));
    expect(new Set([hashes.subarray(1), ...stored].map(String)).size).toBe(3);
    expect(stored.map((hash, at) => interpretedHash(hash, 0, ways[at] as Buffer))).toEqual([
      hashes.subarray(1),
      hashes.subarray(1),
    ]);
  });
});
