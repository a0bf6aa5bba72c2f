// Holds further deletes of a feed as a pull does, for which the feed need not be configured.
import type { Database } from '../../src/store/postgres/database.ts';

/** The reason is that of a delete that is held already. */
export async function holdAlso(db: Database, feed: string, count: number): Promise<void> {
  await db.query(
    `insert into change (feed, key, site, desired, operation, state, target_state, reason)
     select $1, 'pother' || n, c.site, 'absent', 'delete', 'held', 'held', c.reason
     from generate_series(1, $2) n, (select site, reason from change where state = 'held' limit 1) c`,
    [feed, count],
  );
}
