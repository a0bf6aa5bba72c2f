// Arbitrary records for property tests, including names that are dangerous in plain objects.
import fc from 'fast-check';
import type { RecordTree } from '../../src/posting/posting.ts';
import { anyCharacter } from '../support/any-character.ts';

const name = fc.oneof(
  fc.constantFrom(
    'a',
    'b',
    'c',
    '@a',
    '@b',
    'x:a',
    '#text',
    '#markup',
    '__proto__',
    'constructor',
    'toString',
    'id',
    'title',
    'state',
  ),
  fc.string({ unit: anyCharacter, maxLength: 8 }),
);

/** Trees as the record parser builds them: objects without prototypes, lists, and text of any code units. */
export const recordTree: fc.Arbitrary<RecordTree> = fc.letrec<{ tree: RecordTree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5 },
    fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) }),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(name, tie('tree'), { maxKeys: 6, noNullPrototype: false }),
  ),
})).tree;
