// How many of the slow tests run: all; most, as in CI; or the part that `npm test` runs, which covers every law and rule.

/** `npm run test:all` and plain Vitest run everything; `.ci/run` runs it too, apart from what {@link spread} leaves out. */
export const runsEverything = process.env.TEST_EXTENT !== 'part';

/** Why `npm test` skips a test. */
export const ONLY_IN_ALL = 'only in npm run test:all';

/** Title suffix for tests that `npm test` skips, giving the reason. */
export const onlyInAllNote: string = runsEverything ? '' : ` (skipped: ${ONLY_IN_ALL})`;

/**
 * Distributes cases over variants, such as the queues: `npm test` runs each case once and each variant sometimes.
 * @returns whether `npm test` skips case number `at` of variant number `variant`.
 */
export const leavesOut = (at: number, variant: number, variants: number): boolean =>
  !runsEverything && at % variants !== variant;

/**
 * Cases that are tested in several variants, such as the queues: CI tests each case in each `share`th variant, so that each
 * case and each variant is tested, but not each case in each variant.
 * @param variant the number of the variant
 * @returns the cases to test in that variant
 */
export const spread = <T>(cases: readonly T[], variant: number, share: number): readonly T[] =>
  process.env.TEST_EXTENT === 'most' ? cases.filter((_each, at) => (at + variant) % share === 0) : cases;

/** The same where CI leaves out as much as `npm test`: then each case is tested in one variant. */
export const leavesOutPair = (at: number, variant: number, variants: number): boolean =>
  ['part', 'most'].includes(process.env.TEST_EXTENT ?? '') && at % variants !== variant;

/** How many cases of a property to generate, which are the same in each run: all, a third in CI, a tenth in `npm test`. */
export const generated = (inAll: number): number => {
  const share = { part: 10, most: 3 }[process.env.TEST_EXTENT ?? ''] ?? 1;
  return Math.ceil(inAll / share);
};

/** Of cases that one rule covers: all of them, or the first `count` of them, which `npm test` runs. */
export const firstOf = <T>(cases: readonly T[], count: number): readonly T[] =>
  runsEverything ? cases : cases.slice(0, count);

/** The number of tries, such as seeds: from the environment, or else the default of the full or partial run. */
export const countOf = (given: string | undefined, inAll: number, inPart: number): number =>
  Number(given ?? (runsEverything ? inAll : inPart));
