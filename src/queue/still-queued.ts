// Tells which postings wait in a queue already, without asking it for each: by how many queue jobs were added after theirs.
import type { QueuedPosting } from './site-queue.ts';

/**
 * What one producer has added to a queue that is worked off in order. Where others add to it as well, or a queue job is
 * taken out of turn, a posting may be added once more than it had to, or a walk or more later than it could.
 */
export interface StillQueued {
  /** Those of them that don't wait any more, or never did. @param waiting queue jobs that are not taken yet. */
  withoutThose(postings: readonly QueuedPosting[], waiting: number): QueuedPosting[];
  /** What was added in one go, in this order. */
  added(postings: readonly QueuedPosting[]): void;
  /** What is in the queue is not known any more. */
  forget(): void;
}

/** @param batchSize postings to a queue job. */
export function rememberQueued(batchSize: number): StillQueued {
  /** The number of each one's queue job, the oldest in front. */
  const jobs = new Map<string, number>();
  let lastJob = 0;
  // Feed names hold no `/`, so that no two pairs read alike.
  const idOf = ({ feed, key }: QueuedPosting): string => `${feed}/${key}`;
  return {
    withoutThose(postings, waiting) {
      for (const [id, job] of jobs) {
        if (job > lastJob - waiting) break;
        jobs.delete(id);
      }
      return postings.filter((posting) => !jobs.has(idOf(posting)));
    },
    added(postings) {
      for (const [at, posting] of postings.entries()) {
        if (at % batchSize === 0) lastJob++;
        const id = idOf(posting);
        jobs.delete(id);
        jobs.set(id, lastJob);
      }
    },
    forget: () => jobs.clear(),
  };
}
