// A test that closes what it opened when it ends, alone or concurrently with other tests.
import { test } from 'vitest';

/** What to close, the last one first. */
export type Ends = (() => PromiseLike<void>)[];

export const endsTest = test.extend<{ ends: Ends }>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest requires this form for a fixture without dependencies.
  ends: async ({}, use) => {
    const ends: Ends = [];
    await use(ends);
    for (const end of ends.reverse()) await end();
  },
});
