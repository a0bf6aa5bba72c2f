import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { type CleanTexts, CleanTextsWriter, Utf8Writer } from '../../src/compact/clean-texts.ts';
import { removeIllegalCharacters } from '../../src/posting/markup.ts';
import { anyCharacter } from '../support/any-character.ts';
import { expectEqual } from '../support/expect-equal.ts';
import { generated } from '../support/extent.ts';

const writer = new CleanTextsWriter();

/** Writes after other content, into memory of exactly the promised size. */
function jsonOf(texts: CleanTexts): string {
  const memory = Buffer.alloc(1 + CleanTextsWriter.mostBytes(texts));
  const json = new Utf8Writer(memory, 1);
  writer.write(texts, json);
  return memory.toString('utf8', 1, json.end());
}

/** Text as the posting reader leaves it. */
const cleaned = (text: string): string => removeIllegalCharacters(text).text.replaceAll('\r', '\n');

const special = fc.constantFrom('"', '\\', '\n', '\t', '/', '\u007f', '\u2028', 'é', '–', '𝄞', ' ', 'n', 'u0041');
const short = fc.oneof(fc.string({ unit: anyCharacter }), fc.string({ unit: special }));
/** Lengths around the limit above which a text is written separately. */
const long = fc.string({ unit: special, minLength: 240, maxLength: 270 });
const texts = fc.dictionary(
  fc.oneof(fc.string(), fc.string({ unit: anyCharacter }), special),
  fc.oneof(short, long).map(cleaned),
  {
    maxKeys: 6,
  },
);

test('clean texts become the same JSON as with JSON.stringify', () => {
  fc.assert(
    fc.property(texts, (some) => expectEqual(jsonOf(some), JSON.stringify(some))),
    { numRuns: generated(2_000) },
  );
});

it.each<[string, CleanTexts]>([
  ['no texts', {}],
  ['an empty name and an empty text', { '': '' }],
  ['a name with all that has to be escaped', { 'a"b\\c\nd\u0001': 'x' }],
  ['a text of nothing but quotes', { title: '"'.repeat(1_000) }],
  ['a text of three-byte characters only', { title: '–'.repeat(1_000) }],
])('%s', (_what, some) => {
  expect(jsonOf(some)).toBe(JSON.stringify(some));
});
