// Finds the real feeds that lie beside the repository, so that tests can read them where they are and skip where they are not.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/package-root.ts';

const folder = join(packageRoot, '..', 'shared', 'feeds');

/** Whether the folder of real feeds exists on this machine. */
export const hasSharedFeeds: boolean = existsSync(folder);

/** Absolute path of one real feed, such as `indeed/root-jobs.xml`. */
export const sharedFeed = (name: string): string => join(folder, name);

/** Title suffix for a suite that reads real feeds, so that a skip says why. */
export const sharedFeedsNote: string = hasSharedFeeds ? '' : ' (skipped: no folder ../shared/feeds)';
