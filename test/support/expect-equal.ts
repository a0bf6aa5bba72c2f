// Compares many values in a loop: an assertion takes longer than most of what it would compare.
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';

/** `expect(actual, message).toEqual(expected)`, which is called only for values that are not exactly equal. */
export function expectEqual(actual: unknown, expected: unknown, message?: string): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual, message).toEqual(expected);
}
