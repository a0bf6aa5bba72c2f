// Tracks which postings are still queued without asking the queue for each, by counting the queue jobs added after theirs.
import type { PostingRef } from '../posting/identifiers.ts';

/**
 * The postings that one producer has added to a queue that is processed in order. If others add to it too, or queue jobs are
 * taken out of order, a posting may be added again needlessly, or one or more walks late.
 */
export interface StillQueued {
  /** Returns the postings that are not queued, or no longer. @param waiting queue jobs not taken yet. */
  withoutThose(postings: readonly PostingRef[], waiting: number): PostingRef[];
  /** Records postings added in one call, in this order. */
  added(postings: readonly PostingRef[]): void;
  /** The content of the queue is no longer known. */
  forget(): void;
}

/** @param batchSize postings per queue job. */
export function rememberQueued(batchSize: number): StillQueued {
  /** Number of each posting's queue job, oldest first. */
  const jobs = new Map<string, number>();
  let lastJob = 0;
  // Feed names contain no `/`, so no two pairs give the same ID.
  const idOf = ({ feed, key }: PostingRef): string => `${feed}/${key}`;
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
