// Commits a pull whose feed matches the site already: a few statements, without the temporary tables of a plan.

import { refuseOvertaken, writeFeedState } from '../feed/feed-state.ts';
import { lockOutcomes } from '../locks/advisory-locks.ts';
import type { Database, Queryable } from '../postgres/database.ts';
import { takeOver } from './pull-takeover.ts';
import type { PullSubject } from './pull-transaction.ts';
import { EXPIRED_ROWS } from './skipped-records.ts';

/** A feed that was found complete, with no two equal records. */
export interface UnchangedFeed {
  /** Hashes of all records, in hex, as stored. */
  readonly hashes: ReadonlySet<string>;
  readonly bytes: number;
  /** See `PullFindings`. */
  readonly weak: string | undefined;
  /** Of its source, if it has versions. */
  readonly version: string | undefined;
  /** Postings of the feed expire. None is due. */
  readonly expires: boolean;
}

/**
 * Commits the pull if the feed's mappings and skipped records have exactly these record hashes and the feed has no open
 * changes, notes or review entries. Returns whether it committed; if not, nothing was written.
 */
export function commitUnchanged(db: Database, subject: PullSubject, found: UnchangedFeed): Promise<boolean> {
  const { pull, feed } = subject;
  const { hashes, bytes, version } = found;
  return db.transaction(async (tx) => {
    await Promise.all([noWait(tx), lockOutcomes(tx, feed)]);
    const skipped = await skippedIfUnchanged(tx, subject, found);
    if (skipped === undefined) return false;
    await refuseOvertaken(tx, feed, pull);
    await takeOver({ session: tx, subject });
    await Promise.all([
      tx.query(
        `update pull set committed_at = now(), complete = true, seen = $2, unchanged = $5, bytes = $3, skipped = $4, expired = $6, weak = $7
         where id = $1`,
        [pull, hashes.size, bytes, skipped.all, hashes.size - skipped.all, skipped.expired, found.weak ?? null],
      ),
      writeFeedState(tx, {
        createOnly: undefined,
        policy: undefined,
        membership: undefined,
        ...subject,
        version,
        keyRule: undefined,
        weakAnswer: null,
      }),
    ]);
    return true;
  });
}

/** Does not wait for the disk: the next pull would find out the same again. */
const noWait = (tx: Queryable) => tx.query('set local synchronous_commit = off');

/** The number of skipped records, and how many of them are of expired postings; `undefined`: something has changed, or is open. */
async function skippedIfUnchanged(
  tx: Queryable,
  { feed }: PullSubject,
  { hashes, expires }: UnchangedFeed,
): Promise<{ readonly all: number; readonly expired: number } | undefined> {
  const expired = `(select e.record_hash ${EXPIRED_ROWS} and $4)`;
  const [row] = await tx.query<{ same: boolean; all: number; expired: number }>(
    `select f.rekey_since is null and not exists (select from change where feed = $1)
       and not exists (select from record_problem where feed = $1)
       and not exists (select from posting_note where feed = $1)
       and (select count(*) from mapping where feed = $1) + s.n + x.n = $3
       and (select count(distinct record_hash) from (
         select record_hash from mapping where feed = $1 and missing_pulls = 0 and record_hash = any($2::bytea[])
         union all select record_hash from skipped_record where feed = $1 and record_hash = any($2::bytea[])
         union all select record_hash from ${expired} h where record_hash = any($2::bytea[])) r) = $3 as same,
       s.n + x.n as all, x.n as expired
     from feed_state f, (select count(*) as n from skipped_record where feed = $1) s,
       (select count(*) as n from ${expired} h) x where f.feed = $1`,
    [feed, [...hashes].map((hash) => Buffer.from(hash, 'hex')), hashes.size, expires],
  );
  return row?.same === true ? row : undefined;
}
