// Reads the backlog in sending order, chunk by chunk, for the bounded window of the queue.
import { type FeedName, type PostingKey, postingKey } from '../../posting/identifiers.ts';
import { mayBeNew } from '../change/rekey/open-question.ts';
import type { Queryable } from '../postgres/database.ts';
import { noSearchIsDue } from '../site/ahead-signs.ts';

/** Where reading stopped: the rank of the operation (0 delete, 1 create, 2 update) and the change's ID. */
export interface BacklogCursor {
  readonly rank: number;
  readonly id: number;
}

/** Changes of one feed that are due, after the cursor: deletes, then creates, then updates, oldest first. */
export async function readReady(
  db: Queryable,
  feed: FeedName,
  after: BacklogCursor | undefined,
  limit: number,
): Promise<{ readonly key: PostingKey; readonly cursor: BacklogCursor }[]> {
  const rank = `case operation when 'delete' then 0 when 'create' then 1 else 2 end`;
  const rows = await db.query<{ key: string; rank: number; id: number }>(
    `select key, ${rank} as rank, id from change
     where feed = $1 and state = 'ready' and not gone and not_before <= now() and ((${rank}), id) > ($2::int, $3::bigint)
       and (operation <> 'create' or not exists (select from feed_state f where f.feed = $1
         and (f.site_checked_at is null or not ${mayBeNew('change', 'f')}))
         and ${noSearchIsDue('change.site')})
     order by (${rank}), id limit $4`,
    [feed, after?.rank ?? -1, after?.id ?? 0, limit],
  );
  return rows.map((row) => ({ key: postingKey(row.key), cursor: { rank: row.rank, id: row.id } }));
}
