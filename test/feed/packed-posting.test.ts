// A posting parsed in another thread equals one parsed here.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { GrowingBytes } from '../../src/feed/batch/growing-bytes.ts';
import { packPosting, unpackPosting } from '../../src/feed/batch/record-batch.ts';
import { HASH_BYTES } from '../../src/posting/hash.ts';
import { postingKey } from '../../src/posting/identifiers.ts';
import { removeIllegalCharacters } from '../../src/posting/markup.ts';
import type { Fields, Problem, ReadPosting } from '../../src/posting/posting.ts';
import { anyCharacter } from '../support/any-character.ts';

const text = fc.string({ unit: anyCharacter, maxLength: 300 });
const clean = text.map((some) => removeIllegalCharacters(some).text.replaceAll('\r', '\n'));
const remark: fc.Arbitrary<Problem> = fc.record(
  { field: text, value: text, message: text },
  { requiredKeys: ['message'] },
);
const remarks = fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.array(remark, { maxLength: 3 }));
const posting = fc.record({
  key: fc
    .string({ unit: anyCharacter, minLength: 1, maxLength: 500 })
    .map((key) => postingKey(key.slice(0, 500).toWellFormed())),
  fields: fc.dictionary(clean, clean, { maxKeys: 8 }),
  contentHash: fc.uint8Array({ minLength: HASH_BYTES, maxLength: HASH_BYTES }).map((bytes) => Buffer.from(bytes)),
  notes: remarks,
});
const readPosting: fc.Arbitrary<ReadPosting> = fc.oneof(
  posting.map((read) => ({ kind: 'posting' as const, posting: read })),
  fc.tuple(posting, remarks).map(([read, problems]) => ({ kind: 'invalid' as const, posting: read, problems })),
);

/** The posting with its fields as the JSON that is copied to the database. */
const asWritten = (result: ReadPosting<Fields | Buffer>) => {
  const { fields } = result.posting;
  return {
    ...result,
    posting: { ...result.posting, fields: Buffer.isBuffer(fields) ? fields.toString() : JSON.stringify(fields) },
  };
};

it('are written one after another into growing memory', () => {
  fc.assert(
    fc.property(fc.array(readPosting, { maxLength: 5 }), (results) => {
      const bytes = new GrowingBytes(Buffer.alloc(0));
      const ends = results.map((result) => {
        packPosting(result, bytes);
        return bytes.length;
      });
      const back = ends.map((end, at) => unpackPosting(bytes.bytes.subarray(ends[at - 1] ?? 0, end)));
      expect(back.map(asWritten)).toEqual(results.map(asWritten));
    }),
  );
});
