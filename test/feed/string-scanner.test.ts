// Compares the search for the end of a JSON string with a plain one, byte by byte.
import fc from 'fast-check';
import { it } from 'vitest';
import { StringScanner } from '../../src/feed/format/value-scanner.ts';
import { expectEqual } from '../support/expect-equal.ts';
import { generated } from '../support/extent.ts';

const [QUOTE, BACKSLASH] = [0x22, 0x5c];

/** The position behind the quote that ends the string, or where to continue. */
function plainSearch(bytes: Buffer, from: number): { readonly end: number } | { readonly next: number } {
  let at = from;
  for (; at < bytes.length; at++) {
    if (bytes[at] === QUOTE) return { end: at + 1 };
    if (bytes[at] === BACKSLASH && ++at === bytes.length) return { next: at - 1 };
  }
  return { next: at };
}

/** Quotes, backslashes, and bytes that differ from them in one bit or by one. */
const special = fc.constantFrom(0x22, 0x22, 0x5c, 0x5c, 0x21, 0x23, 0xa2, 0x5b, 0x5d, 0xdc, 0x00, 0x80, 0xff);
const plain = fc.array(fc.constantFrom(0x61, 0x21, 0x23, 0x5d, 0xa2, 0xdc, 0x00, 0xff), { maxLength: 80 });
const content = fc
  .array(
    fc.oneof(
      plain,
      special.map((byte) => [byte]),
      fc.constant([0x5c, 0x22]),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.flat());

it('finds the same end as a plain search, wherever the bytes are in memory', () => {
  const scanner = new StringScanner();
  fc.assert(
    fc.property(content, fc.nat({ max: 9 }), fc.nat({ max: 9 }), (bytes, before, from) => {
      const text = Buffer.from([...Array(before).fill(QUOTE), ...bytes, QUOTE, BACKSLASH]).subarray(before, -2);
      const start = Math.min(from, text.length);
      const end = scanner.findEnd(text, start);
      expectEqual(end < 0 ? { next: scanner.next } : { end }, plainSearch(text, start));
    }),
    { numRuns: generated(5_000) },
  );
});
