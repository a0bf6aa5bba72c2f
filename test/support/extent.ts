// The two extents of the tests. `npm test` leaves out most tests in a browser, the tests and files with the tag `slow`, and some cases of
// others, as this file chooses. `npm run test:all` and plain Vitest leave out nothing. CI runs it with `EVERY_COMBINATION=0`: each case and
// each variant, but not each case in each variant, and a third of the generated cases.
import { readdirSync, readFileSync } from 'node:fs';

export const isQuick: boolean = process.env.TEST_EXTENT === 'quick';

/** In `npm test` and in CI. */
const hasFewerCombinations = isQuick || process.env.EVERY_COMBINATION === '0';

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
export const chosen = <Case>(
  cases: readonly Case[],
  isInQuick: (each: Case, at: number) => boolean,
): readonly Case[] => (isQuick ? cases.filter(isInQuick) : cases);

/** The same, where `npm test` runs the first `count`. */
export const firstOf = <Case>(cases: readonly Case[], count: number): readonly Case[] =>
  isQuick ? cases.slice(0, count) : cases;

/**
 * Distributes cases over variants, such as the queues: `npm test` and CI run each case once and each variant sometimes.
 * @returns whether they leave out case number `at` of variant number `variant`.
 */
export const leavesOut = (at: number, variant: number, variants: number): boolean =>
  hasFewerCombinations && at % variants !== variant;

/** The number of tries, such as seeds: from the environment, or else that of the extent. */
export const countOf = (given: string | undefined, inAll: number, inQuick: number): number =>
  Number(given ?? byExtent(inAll, inQuick));

/** How many cases of a property to generate, which are the same in each run. */
export const generated = (inAll: number): number => Math.ceil(inAll / byExtent(hasFewerCombinations ? 3 : 1, 10));

/**
 * Cases whose every combination with a variant, such as a queue, takes long: `npm test` and CI test each case in each `share`th variant.
 * @param variant the number of the variant
 * @returns the cases to test in that variant
 */
export const spread = <Case>(cases: readonly Case[], variant: number, share: number): readonly Case[] =>
  hasFewerCombinations ? cases.filter((_each, at) => (at + variant) % share === 0) : cases;
