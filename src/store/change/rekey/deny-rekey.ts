// Records that the new postings of a feed are no missing ones under other keys: they are created, and the missing ones deleted.
import type { HoldKind } from '../../../plan/delete-guard.ts';
import type { FeedName } from '../../../posting/identifiers.ts';
import { lockOutcomes } from '../../locks/advisory-locks.ts';
import type { Database } from '../../postgres/database.ts';
import { auditAction } from '../../review/audit.ts';
import { endRekey } from './collect-rekey.ts';

export interface DeniedRekey {
  /** Creates and deletes that no longer wait. */
  readonly creates: number;
  readonly deletes: number;
  /** Deletes that the delete guard holds, or an unreadable record. */
  readonly held: number;
}

const OWN_HOLD: HoldKind = 'rekey';

/** `undefined`: no change of keys is suspected. The caller holds the feed's pull lock. */
export function denyRekey(db: Database, feed: FeedName, actor: string): Promise<DeniedRekey | undefined> {
  return db.transaction(async (tx) => {
    await lockOutcomes(tx, feed);
    const [denied] = await tx.query(
      `update feed_state set rekey_denied = (select coalesce(max(id), 0) from change where feed = $1), rekey_denied_at = now()
       where feed = $1 and rekey_since is not null returning feed`,
      [feed],
    );
    if (denied === undefined) return undefined;
    await endRekey(tx, feed);
    const released = await tx.query(
      `update change set state = 'ready', target_state = 'ready', since = now(), reason = null, attempts = 0,
         not_before = '-infinity', revision = nextval('revision_number')
       where feed = $1 and desired = 'absent' and state = 'held' and reason->>'kind' = '${OWN_HOLD}' returning key`,
      [feed],
    );
    const [counts] = await tx.query<{ creates: number; held: number }>(
      `select count(*) filter (where operation = 'create' and desired = 'present' and state = 'ready') as creates,
         count(*) filter (where desired = 'absent' and state = 'held') as held from change where feed = $1`,
      [feed],
    );
    const { creates = 0, held = 0 } = counts ?? {};
    const detail = { creates, deletes: released.length, held };
    await auditAction(tx, { actor, action: 'keys are new', feed, detail });
    return detail;
  });
}
