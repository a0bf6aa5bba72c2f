// Commits a pull of a feed that is as the site has it: a handful of statements, without the tables that a plan needs.

import { refuseOvertaken, type SourceValidators, writeFeedState } from '../feed/feed-state.ts';
import { seizeFeed } from '../locks/advisory-locks.ts';
import type { Database, Queryable } from '../postgres/database.ts';
import { takeOver } from './pull-takeover.ts';
import type { PullSubject } from './pull-transaction.ts';

/** What the feed was found to be: complete, and each of its records another one. */
export interface UnchangedFeed {
  /** Of all records, as they are stored, in hex. */
  readonly hashes: ReadonlySet<string>;
  readonly bytes: number;
  readonly validators: SourceValidators;
}

/**
 * Commits the pull if the feed's mappings have exactly these record hashes and nothing of the feed is open, noted or in
 * review. Gives whether it has; if not, nothing was done.
 */
export function commitUnchanged(db: Database, subject: PullSubject, found: UnchangedFeed): Promise<boolean> {
  const { pull, feed, site } = subject;
  const { hashes, bytes, validators } = found;
  return db.transaction(async (tx) => {
    await Promise.all([noWait(tx), seizeFeed(tx, feed)]);
    if (!(await isUnchanged(tx, subject, found))) return false;
    await refuseOvertaken(tx, feed, pull);
    await takeOver({ session: tx, subject });
    await Promise.all([
      tx.query(
        `update pull set committed_at = now(), complete = true, seen = $2, unchanged = $2, bytes = $3 where id = $1`,
        [pull, hashes.size, bytes],
      ),
      writeFeedState(tx, { feed, site, pull, validators, holdReason: undefined, holds: false, keyRule: undefined }),
    ]);
    return true;
  });
}

/** A commit that need not wait for the disk: what it says would be found out again. */
const noWait = (tx: Queryable) => tx.query('set local synchronous_commit = off');

async function isUnchanged(tx: Queryable, { feed }: PullSubject, { hashes }: UnchangedFeed) {
  const [row] = await tx.query<{ same: boolean }>(
    `select not exists (select from change where feed = $1)
       and not exists (select from record_problem where feed = $1)
       and not exists (select from posting_note where feed = $1)
       and (select count(*) from mapping where feed = $1) = $3
       and (select count(distinct record_hash) from mapping
         where feed = $1 and missing_pulls = 0 and record_hash = any($2::bytea[])) = $3 as same
     from feed_state f where f.feed = $1`,
    [feed, [...hashes].map((hash) => Buffer.from(hash, 'hex')), hashes.size],
  );
  return row?.same === true;
}
