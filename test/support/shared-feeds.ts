// Finds the real feeds in a folder next to the repository; tests that read them are skipped if it is missing.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/package-root.ts';

const folder = join(packageRoot, '..', 'shared', 'feeds');

/** Whether the folder of real feeds exists on this machine. */
export const hasSharedFeeds: boolean = existsSync(folder);

/** Absolute path of one real feed, such as `indeed/root-jobs.xml`. */
export const sharedFeed = (name: string): string => join(folder, name);

/** Title suffix for a suite that reads real feeds, giving the reason for a skip. */
export const sharedFeedsNote: string = hasSharedFeeds ? '' : ' (skipped: no folder ../shared/feeds)';
