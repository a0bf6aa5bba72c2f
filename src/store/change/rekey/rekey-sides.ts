// Reads both postings of suspected pairs field by field: what the job of the missing one has, and what the new one is to have.
import type { FeedName, PostingKey } from '../../../posting/identifiers.ts';
import type { Fields } from '../../../posting/posting.ts';
import type { Queryable } from '../../postgres/database.ts';
import type { RekeyPair } from './rekey-postings.ts';

export interface RekeySides {
  /** As the site last accepted it; `undefined`: not known. */
  readonly before: Fields | undefined;
  readonly now: Fields | undefined;
}

/** In the order of the pairs. */
export async function readRekeySides(
  db: Queryable,
  feed: FeedName,
  pairs: readonly RekeyPair[],
): Promise<RekeySides[]> {
  const rows = await db.query<{ before: Fields | null; now: Fields | null }>(
    `select d.fields as before, coalesce(c.fields, s.fields) as now from unnest($2::text[], $3::text[]) with ordinality w(old_key, key, place)
       left join document d on d.feed = $1 and d.key = w.old_key left join change c on c.feed = $1 and c.key = w.key
       left join document s on s.feed = $1 and s.key = w.key
     order by w.place`,
    [feed, pairs.map(({ oldKey }) => oldKey), pairs.map(({ key }): PostingKey => key)],
  );
  return rows.map(({ before, now }) => ({ before: before ?? undefined, now: now ?? undefined }));
}

export interface RekeyedFeed {
  readonly feed: FeedName;
  readonly since: Date;
  /** A person took it out of service, so nothing of it is sent anyway. */
  readonly isRetired: boolean;
  /** All of its creates and deletes wait; otherwise only those of some postings. */
  readonly isAll: boolean;
}

/** The feeds whose keys seem to have changed, the longest wait first. */
export const rekeyedFeeds = (db: Queryable): Promise<RekeyedFeed[]> =>
  db.query<RekeyedFeed & Record<string, unknown>>(
    `select feed, rekey_since as since, retired_at is not null as "isRetired", rekey_all as "isAll" from feed_state
     where rekey_since is not null order by rekey_since, feed`,
  );
