// Names and takes the advisory locks of the database: one pull per feed, one dispatcher per site, live workers.
import { createHash } from 'node:crypto';
import type { FeedName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';

/** Processes of older versions name these locks so: during an upgrade both must exclude each other. */
const PREFIXES: Readonly<Record<string, string>> = { write: 'hand' };

/** A 64-bit lock key from a purpose and a name, as decimal text. */
export function lockKey(
  purpose: 'pull' | 'details' | 'edit' | 'merge' | 'lead' | 'write' | 'alert' | 'rekey' | 'bulk',
  name: string,
): string {
  return createHash('sha1')
    .update(`${PREFIXES[purpose] ?? purpose}:${name}`)
    .digest()
    .readBigInt64BE(0)
    .toString();
}

/** Held until the end of the transaction by whoever records outcomes for these feeds; a merging pull waits for it. */
export async function lockOutcomesShared(tx: Queryable, feeds: Iterable<string>): Promise<void> {
  const keys = [...new Set(feeds)].sort().map((feed) => lockKey('merge', feed));
  await tx.query('select pg_advisory_xact_lock_shared(k) from unnest($1::bigint[]) k', [keys]);
}

/** Held until the end of the transaction by a pull that merges its changes: no outcome of the feed is recorded meanwhile. */
export async function lockOutcomes(tx: Queryable, feed: FeedName): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1)', [lockKey('merge', feed)]);
}

/** A lock that a process holds until it releases it, dies or loses its connection. */
export interface HeldLock {
  /** Whether the connection that holds the lock is still open. */
  readonly held: () => boolean;
  release(): Promise<void>;
}
