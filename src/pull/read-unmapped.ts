// Reads the postings of a feed that have no job, as a pull would find them, and writes nothing.
import type { Message } from '../plan/message.ts';
import { type UnmappedPosting, unmappedPostings } from '../store/backlog/unmapped-postings.ts';
import type { FeedSetup, PullContext } from './feed-setup.ts';
import { inDryRun } from './undone-pull.ts';

export type ReadUnmappedEnd =
  /**
   * `shortfalls`: why the feed may have further postings; empty if it has none. `version`: of the source, for its next opening;
   * `undefined` if it has none.
   */
  | {
      readonly kind: 'read';
      readonly seen: number;
      readonly shortfalls: readonly Message[];
      readonly version: string | undefined;
    }
  | { readonly kind: 'failed'; readonly message: Message };

/**
 * The caller holds the feed's pull lock. `take` receives the postings in portions: also those that have expired, as the site may have
 * jobs of them that the database does not know.
 */
export function readUnmapped(
  setup: FeedSetup,
  context: PullContext,
  take: (postings: readonly UnmappedPosting[]) => Promise<void>,
): Promise<ReadUnmappedEnd> {
  return inDryRun({ ...setup, expireAfterDays: undefined }, context, async ({ session, findings, version }) => {
    for await (const postings of unmappedPostings(session, setup.feed)) await take(postings);
    return { kind: 'read', seen: findings.seen, shortfalls: findings.shortfalls, version } as const;
  });
}
