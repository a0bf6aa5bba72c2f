import { describe, expect, test } from 'vitest';
import { excerpt, removeIllegalCharacters } from '../../src/posting/markup.ts';

/** The production Char of XML 1.0, section 2.2, as numbers. */
const isChar = (code: number): boolean =>
  [0x9, 0xa, 0xd].includes(code) ||
  (code >= 0x20 && code <= 0xd7ff) ||
  (code >= 0xe000 && code <= 0xfffd) ||
  code >= 0x10000;

describe('removeIllegalCharacters', () => {
  test('keeps exactly the single code units that XML can carry', () => {
    const wrong: string[] = [];
    for (let code = 0; code <= 0xffff; code += 1) {
      const { text, removed } = removeIllegalCharacters(`a${String.fromCharCode(code)}b`);
      const expected = isChar(code) ? `a${String.fromCharCode(code)}b` : 'ab';
      if (text !== expected || removed.length !== (isChar(code) ? 0 : 1)) wrong.push(code.toString(16));
    }
    expect(wrong).toEqual([]);
  });

  test('keeps surrogate pairs and removes lone surrogates', () => {
    expect(removeIllegalCharacters('\u{1F600}\uD83D\uDE00\uDE00\uD83D')).toEqual({
      text: '\u{1F600}\u{1F600}',
      removed: ['\uDE00', '\uD83D'],
    });
  });
});

describe('excerpt', () => {
  test.each([
    ['short', 'short'],
    ['  two\n\tlines ', 'two lines'],
    ['a\u0000b\uD800', 'a\uFFFDb\uFFFD'],
    ['x'.repeat(300), 'x'.repeat(200)],
    [`${'x'.repeat(199)}\u{1F600}`, `${'x'.repeat(199)}\uFFFD`],
  ])('of %j', (text, shown) => {
    expect(excerpt(text)).toBe(shown);
  });
});
