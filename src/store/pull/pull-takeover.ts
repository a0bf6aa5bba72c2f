// Records what the feed's last pull leaves open when a new one takes the feed over.

import { countOpen } from '../backlog/open-counts.ts';
import type { Queryable } from '../postgres/database.ts';
import { toJsonb } from '../postgres/jsonb.ts';
import type { PullSubject } from './pull-transaction.ts';

/** The caller holds the feed's lock and has merged nothing yet. From now on the open changes count towards its pull. */
export async function takeOver({
  session,
  subject: { feed, pull },
}: {
  readonly session: Queryable;
  readonly subject: PullSubject;
}): Promise<void> {
  const [last] = await session.query<{ id: number }>(
    'select current_pull as id from feed_state where feed = $1 and current_pull is not null',
    [feed],
  );
  if (last === undefined) return;
  await session.query('update pull set taken_over_by = $2, left_open = $3 where id = $1', [
    last.id,
    pull,
    toJsonb(await countOpen(session, feed, pull)),
  ]);
}
