// Completes changes that need no request because the site already has the desired state.

import type { PostingRef } from '../../posting/identifiers.ts';
import { lockOutcomesShared } from '../locks/advisory-locks.ts';
import type { Statements } from '../postgres/database.ts';
import { addOutcomeCount } from '../pull/outcome-counts.ts';
import { type Attempt, idOf } from './attempt.ts';
import { clearUncertain } from './uncertain-writes.ts';

interface IdleChange extends PostingRef {
  readonly revision: number;
  readonly accepted: Attempt['accepted'];
}

/** Removes the changes whose revision is unchanged and records their newest hashes. Returns the `feed key` of each. */
export async function completeWithoutRequest(
  db: Statements,
  idle: readonly IdleChange[],
): Promise<ReadonlySet<string>> {
  if (idle.length === 0) return new Set();
  return db.transaction(async (tx) => {
    await lockOutcomesShared(
      tx,
      idle.map((change) => change.feed),
    );
    const rows = await tx.query<PostingRef & { readonly desired: string; readonly unseen: boolean }>(
      `with gone as (
         delete from change c using unnest($1::text[], $2::text[], $3::bigint[], $4::bytea[]) i(feed, key, revision, hash)
         where c.feed = i.feed and c.key = i.key and c.revision = i.revision and c.state = 'ready' and not c.gone
         returning c.feed, c.key, c.desired, c.record_hash, i.hash, c.unseen),
       noted as (
         update mapping m set record_hash = g.record_hash, content_hash = coalesce(g.hash, m.content_hash), missing_pulls = 0
         from gone g where m.feed = g.feed and m.key = g.key and g.desired = 'present')
       select feed, key, desired, unseen from gone`,
      [
        idle.map((change) => change.feed),
        idle.map((change) => change.key),
        idle.map((change) => change.revision),
        idle.map((change) => change.accepted?.contentHash ?? null),
      ],
    );
    await clearUncertain(
      tx,
      rows.flatMap((attempt) => (attempt.desired === 'present' ? [{ attempt }] : [])),
    );
    // Postings that the current pull did not see do not count towards it.
    const counted = rows.filter((row) => !row.unseen);
    await addOutcomeCount(
      tx,
      counted.map((row) => ({ feed: row.feed, outcome: row.desired === 'present' ? 'nothing' : 'dropped' })),
    );
    return new Set(rows.map(idOf));
  });
}
