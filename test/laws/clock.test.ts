// A process whose clock jumps by a day during a run, forward or back: timing must not depend on that clock.
// @module-tag slow
import { describe, expect } from 'vitest';
import { spread } from '../support/extent.ts';
import { postings } from '../support/indeed-feed.ts';
import { heal } from './heal.ts';
import { inTheMiddle } from './in-the-middle.ts';
import { lawTest as it, QUEUES } from './law-test.ts';
import { checkLaws } from './laws.ts';

const DAY_MS = 24 * 3_600_000;
const FEED = postings(30);
const JUMPS = [
  { jump: 'forward', shiftMs: DAY_MS },
  { jump: 'back', shiftMs: -DAY_MS },
];
const CASES = QUEUES.flatMap((queue, number) => spread(JUMPS, number, 2).map((jump) => ({ ...queue, ...jump })));

describe('a clock that jumps by a day', { concurrent: true }, () => {
  it.for(CASES)(
    '$jump during a run, with the queue in $queue $note',
    { timeout: 900_000 },
    async ({ queue, available, shiftMs }, { open, skip }) => {
      if (!available) skip();
      const installation = await open({ queue });
      const env = {
        NODE_OPTIONS: `--import ${new URL('shift-clock.mjs', import.meta.url).href}`,
        CLOCK_SHIFT_MS: String(shiftMs),
      };
      const { begun } = await inTheMiddle(installation, FEED, () => installation.spawn(['sync'], env));
      // From here on with doubts and retries too, which depend on time.
      await installation.sandbox.setFaults([
        { name: '500', made: true, on: ['create'], count: 3 },
        { name: '429', on: ['create'], after: 5, count: 3 },
      ]);
      begun.child.kill('SIGUSR2');
      const { status, output } = await begun.ended;
      expect({ status, output }).toMatchObject({ status: 0 });
      await heal(installation);
      await checkLaws(installation, FEED);
    },
  );
});
