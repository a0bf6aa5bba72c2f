// The two extents of the tests. `npm test` leaves out most tests in a browser, the tests and files with the tag `slow`, and some cases of
// others, as this file chooses. `npm run test:all` and plain Vitest leave out nothing; CI runs it with fewer combinations and seeds.
import { readdirSync, readFileSync } from 'node:fs';

export const isQuick: boolean = process.env.TEST_EXTENT === 'quick';

/** These start Chromium; the one that `npm test` runs shows that signing in and pages with forms work in a browser. */
const BROWSER_TESTS = 'test/web/pages/';
const QUICK_BROWSER_TEST = `${BROWSER_TESTS}overview.test.ts`;

/** The test files that `npm test` leaves out. */
export const slowFiles = (): string[] =>
  readdirSync('test', { recursive: true, encoding: 'utf8' })
    .map((file) => `test/${file}`)
    .filter((file) => file.endsWith('.test.ts') && isSlow(file));

function isSlow(file: string): boolean {
  if (file.startsWith(BROWSER_TESTS)) return file !== QUICK_BROWSER_TEST;
  return readFileSync(file, 'utf8').includes('\n// @module-tag slow\n');
}

/** @returns the first in `npm run test:all`, the second in `npm test`, such as how many times to try something */
export const byExtent = <Value>(inAll: Value, inQuick: Value): Value => (isQuick ? inQuick : inAll);

/** Of cases that one rule covers: all of them, or those that `npm test` runs. */
export const chosen = <Case>(cases: readonly Case[], isInQuick: (each: Case) => boolean): readonly Case[] =>
  isQuick ? cases.filter(isInQuick) : cases;

/** The same, where `npm test` runs the first `count`. */
export const firstOf = <Case>(cases: readonly Case[], count: number): readonly Case[] =>
  isQuick ? cases.slice(0, count) : cases;

/**
 * Distributes cases over variants, such as the queues: `npm test` runs each case once and each variant sometimes.
 * @returns whether `npm test` leaves out case number `at` of variant number `variant`.
 */
export const leavesOut = (at: number, variant: number, variants: number): boolean =>
  isQuick && at % variants !== variant;

/** The number of tries, such as seeds: from the environment, or else that of the extent. */
export const countOf = (given: string | undefined, inAll: number, inQuick: number): number =>
  Number(given ?? byExtent(inAll, inQuick));

/** How many cases of a property to generate, which are the same in each run. */
export const generated = (inAll: number): number => byExtent(inAll, Math.ceil(inAll / 10));

/**
 * Cases whose every combination with a variant, such as a queue, takes long. `npm run test:all` tests all combinations. `npm test`, and CI
 * with `EVERY_COMBINATION=0`, test each case in each `share`th variant: each case and each variant, but not each case in each variant.
 * @param variant the number of the variant
 * @returns the cases to test in that variant
 */
export const spread = <Case>(cases: readonly Case[], variant: number, share: number): readonly Case[] =>
  isQuick || process.env.EVERY_COMBINATION === '0' ? cases.filter((_each, at) => (at + variant) % share === 0) : cases;
