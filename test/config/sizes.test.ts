// Sizes with units.
import { expect, test } from 'vitest';
import { parseSize } from '../../src/config/schema/scalars.ts';

test.each([
  ['500MB', 500_000_000],
  ['5MiB', 5 * 1024 * 1024],
  ['5 MiB', 5 * 1024 * 1024],
  ['1.5kB', 1500],
  ['2KiB', 2048],
  ['8GB', 8e9],
  ['10B', 10],
  ['5', undefined],
  ['MB', undefined],
  ['5 mb', undefined],
  ['-5MB', undefined],
  ['iB', undefined],
  ['5iB', undefined],
])('%s is %j bytes', (text, bytes) => {
  expect(parseSize(text)).toBe(bytes);
});
