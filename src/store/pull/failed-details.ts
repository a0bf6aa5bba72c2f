// Stores the details that a source does not have, and when each is to be requested again.
import type { FeedName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';

export interface FailedDetail {
  /** As in `StoredDetail`. */
  readonly listHash: Buffer;
  readonly message: string;
  /** The beginning of what was received, if anything was. */
  readonly excerpt: Buffer | undefined;
}

/**
 * In the first hour every pull requests it. From then on a pull waits for as long as it has been failing, at most about a day:
 * a bit less, so that a daily pull requests it.
 */
export const IS_RESTING = `(tried_at - since >= interval '1 hour' and
  tried_at > now() - least(tried_at - since, interval '23 hours'))`;

/** Those that are not to be requested yet, by their hashes in hex. @param interpretation how records are read. */
export async function restingDetails(
  db: Queryable,
  feed: FeedName,
  interpretation: Buffer,
  listHashes: readonly Buffer[],
): Promise<ReadonlyMap<string, FailedDetail>> {
  if (listHashes.length === 0) return new Map();
  const rows = await db.query(
    `select list_hash, message, excerpt from failed_detail
     where feed = $1 and interpretation = $2 and list_hash = any($3::bytea[]) and ${IS_RESTING}`,
    [feed, interpretation, listHashes],
  );
  return new Map(
    rows.map(({ list_hash: listHash, message, excerpt }) => [
      listHash.toString('hex'),
      { listHash, message, excerpt: excerpt ?? undefined },
    ]),
  );
}

/** Notes which details have failed, and which have not. A detail fails anew if it had failed with another interpretation. */
export async function noteFailures(
  db: Queryable,
  feed: FeedName,
  interpretation: Buffer,
  { failed, received }: { readonly failed: readonly FailedDetail[]; readonly received: readonly Buffer[] },
): Promise<void> {
  if (received.length > 0) {
    await db.query('delete from failed_detail where feed = $1 and list_hash = any($2::bytea[])', [feed, received]);
  }
  if (failed.length === 0) return;
  await db.query(
    `insert into failed_detail as f (feed, list_hash, interpretation, message, excerpt)
     select distinct on (list_hash) $1, list_hash, $2, message, excerpt
     from unnest($3::bytea[], $4::text[], $5::bytea[]) r(list_hash, message, excerpt)
     on conflict (feed, list_hash) do update
       set message = excluded.message, excerpt = excluded.excerpt, tried_at = excluded.tried_at,
         interpretation = excluded.interpretation,
         since = case when f.interpretation = excluded.interpretation then f.since else excluded.since end`,
    [
      feed,
      interpretation,
      failed.map(({ listHash }) => listHash),
      failed.map(({ message }) => message.toWellFormed().replaceAll('\0', '\ufffd')),
      failed.map(({ excerpt }) => excerpt ?? null),
    ],
  );
}
