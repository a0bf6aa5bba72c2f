// Starts the days of postings on the site anew, as a person says: in the terminal, on a page or through the API.
import type { Config } from '../config/config.ts';
import { plural } from '../plan/plural.ts';
import type { FeedName, PostingKey } from '../posting/identifiers.ts';
import { auditActions } from '../store/access/audit.ts';
import { renewPostings } from '../store/change/renew-postings.ts';
import { lockFeed } from '../store/locks/feed-locks.ts';
import type { Database } from '../store/postgres/database.ts';

export type RenewEnd =
  | { readonly kind: 'renewed' }
  /** Nothing was changed. */
  | { readonly kind: 'refused'; readonly message: string };

interface Renewal {
  readonly feed: FeedName;
  readonly keys: readonly PostingKey[];
  readonly actor: string;
}

/** All of them or none. */
export async function renewAs(
  db: Database,
  config: Pick<Config, 'feeds' | 'path'>,
  { feed, keys, actor }: Renewal,
): Promise<RenewEnd> {
  if (config.feeds.get(feed)?.expireAfterDays === undefined)
    return refused(`postings of feed ${feed} do not expire: it has no expire_after_days in ${config.path}`);
  const lock = await lockFeed(db, feed);
  if (lock === undefined) return refused(`feed ${feed} is being pulled right now; try again when that has ended`);
  try {
    return await db.transaction(async (tx) => {
      const unknown = await renewPostings(tx, feed, keys);
      if (unknown.length > 0) throw new UnknownPostings(feed, unknown);
      const detail = {};
      await auditActions(
        tx,
        actor,
        'renew',
        keys.map((key) => ({ feed, key, detail })),
      );
      return { kind: 'renewed' };
    });
  } catch (error) {
    if (error instanceof UnknownPostings) return refused(error.message);
    throw error;
  } finally {
    await lock.release();
  }
}

const refused = (message: string): RenewEnd => ({ kind: 'refused', message });

/** Rolls the transaction back. */
class UnknownPostings extends Error {
  constructor(feed: FeedName, unknown: readonly PostingKey[]) {
    const which = `${plural(unknown.length, 'posting')} of feed ${feed} neither have a job nor have expired`;
    super(`${which}: ${unknown.slice(0, 10).join(', ')}. Nothing was changed`);
  }
}
