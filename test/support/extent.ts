// How much of the slow tests runs: everything, or the part of it that `npm test` runs and that covers every law and rule.

/** `npm run test:all`, and Vitest called by itself, run everything. */
export const runsEverything = process.env.TEST_EXTENT !== 'part';

/** Why `npm test` skips a test. */
export const ONLY_IN_ALL = 'only in npm run test:all';

/** Title suffix for tests that `npm test` skips as a whole, so that a skip says why. */
export const onlyInAllNote: string = runsEverything ? '' : ` (skipped: ${ONLY_IN_ALL})`;

/**
 * Shares cases among variants, such as the queues, so that `npm test` runs each case once and each variant sometimes.
 * @returns whether it leaves out case number `at` of variant number `variant`.
 */
export const leavesOut = (at: number, variant: number, variants: number): boolean =>
  !runsEverything && at % variants !== variant;

/** How many are tried, such as seeds: as many as the environment says, or this many in everything and in the part. */
export const countOf = (given: string | undefined, inAll: number, inPart: number): number =>
  Number(given ?? (runsEverything ? inAll : inPart));
