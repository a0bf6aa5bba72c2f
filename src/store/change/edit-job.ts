// Opens an update of a posting that has a job and no open change, because a person has edited it.
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';
import { toJsonb } from '../postgres/jsonb.ts';
import { type Edited, replaceEdits } from './edit.ts';

/** Locks the mapping of a posting until the transaction ends, so that what is read of its job afterwards stays. */
export async function lockJob(tx: Queryable, feed: FeedName, key: PostingKey): Promise<void> {
  await tx.query('select from mapping where feed = $1 and key = $2 for update', [feed, key]);
}

/**
 * Returns the number of the change; `undefined`: one is open, or the posting has no job. The caller keeps all pulls out. The change is of no
 * pull and counts towards none until one sees its posting: it is neither shown nor undone with what the last pull did.
 */
export async function openEditedUpdate(
  tx: Queryable,
  feed: FeedName,
  key: PostingKey,
  edited: Edited,
): Promise<number | undefined> {
  const { fields, contentHash } = edited.posting;
  const [change] = await tx.query<{ id: number }>(
    `insert into change (feed, key, site, desired, operation, fields, record_hash, content_hash, unseen, state)
     select feed, key, site, 'present', 'update', $3, record_hash, $4, true, 'ready' from mapping where feed = $1 and key = $2
     on conflict do nothing returning id`,
    [feed, key, toJsonb(fields), contentHash],
  );
  if (change === undefined) return undefined;
  await tx.query(
    `insert into former_document (feed, key, pull, whole, edited)
     select feed, $2, current_pull, false, true from feed_state where feed = $1 and current_pull is not null`,
    [feed, key],
  );
  await replaceEdits(tx, [{ feed, key, edited }]);
  return change.id;
}
