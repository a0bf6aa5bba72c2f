// Tests and groups of tests that only `npm run test:all` runs: others cover the laws and rules that they are about.
import { describe, it } from 'vitest';
import { runsEverything } from './extent.ts';

export const itInAll = it.skipIf(!runsEverything);
export const describeInAll = describe.skipIf(!runsEverything);
