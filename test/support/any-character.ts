// Generates texts of any characters at once; fast-check's own units `binary` and `grapheme` first make tables of a million entries.
import fc from 'fast-check';

/** For `fc.string({ unit })`: half of them ASCII, the others of any kind, also halves of surrogate pairs. */
export const anyCharacter: fc.Arbitrary<string> = fc
  .oneof(fc.integer({ min: 0, max: 0x7f }), fc.integer({ min: 0, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));
