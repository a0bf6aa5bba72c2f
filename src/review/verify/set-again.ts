// Marks what verifying found gone or changed, so that the next pull sets it again. Sends nothing.
import { pause } from '../../flow/pause.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { markDrifted, type UnmarkedJob } from '../../store/change/mark-drifted.ts';
import { type FeedLock, lockFeed } from '../../store/locks/feed-locks.ts';
import type { Verification } from '../../store/mapping/verification.ts';
import type { Database } from '../../store/postgres/database.ts';
import { crossStep } from '../../telemetry/steps.ts';

const MARKED_AT_ONCE = 200;
const MOST_NAMED = 20;
const TRY_AGAIN_MS = 500;

export interface SetAgain {
  readonly marked: number;
  readonly unmarked: number;
  /** Further jobs that are marked only to find out how the site shows some of their fields. */
  readonly toCompare: number;
  /** Some of those that were not marked, with the reason. */
  readonly examples: readonly UnmarkedJob[];
}

/**
 * Marks in portions, each in a transaction of its own: a command that is stopped leaves each posting marked or as it was. Waits
 * while the feed is pulled.
 */
export async function setAgain(
  verification: Verification,
  feed: FeedName,
  {
    db,
    actor,
    signal,
    onWait,
  }: { readonly db: Database; readonly actor: string; readonly signal: AbortSignal; readonly onWait: () => void },
): Promise<SetAgain> {
  const examples: UnmarkedJob[] = [];
  let [marked, unmarked, toCompare] = [0, 0, 0];
  let lock: FeedLock | undefined;
  try {
    for (let after = 0; ; ) {
      const { jobs, last } = await verification.driftAfter(feed, after, MARKED_AT_ONCE);
      if (jobs.length === 0) return { marked, unmarked, toCompare, examples };
      if (lock?.held() === false) await lock.release();
      if (lock?.held() !== true) lock = await waitForLock(db, feed, signal, onWait);
      const left = await markDrifted(verification.session, feed, actor, jobs);
      crossStep('differences-marked');
      const keys = new Set(left.map(({ key }) => key));
      const differing = jobs.filter(({ finding }) => finding !== 'unknown');
      const stayed = left.filter(({ key }) => differing.some((job) => job.key === key));
      marked += differing.length - stayed.length;
      unmarked += stayed.length;
      toCompare += jobs.filter(({ finding, key }) => finding === 'unknown' && !keys.has(key)).length;
      examples.push(...stayed.slice(0, MOST_NAMED - examples.length));
      after = last;
    }
  } finally {
    await lock?.release();
  }
}

async function waitForLock(db: Database, feed: FeedName, signal: AbortSignal, onWait: () => void): Promise<FeedLock> {
  for (;;) {
    signal.throwIfAborted();
    const lock = await lockFeed(db, feed);
    if (lock !== undefined) return lock;
    onWait();
    await pause(TRY_AGAIN_MS, signal);
  }
}
