// Commits a pull: writes its counts, checks that they add up, and commits everything at once; briefly if nothing has changed.
import { checkAccounts } from '../../plan/accounting.ts';
import type { FeedCopy } from '../../plan/source-faults.ts';
import { countOpen } from '../backlog/open-counts.ts';
import { createOnlyNames, type FeedStateUpdate, refuseOvertaken, writeFeedState } from '../feed/feed-state.ts';
import { lockOutcomes } from '../locks/advisory-locks.ts';
import { toJsonb } from '../postgres/copy-rows.ts';
import type { Database, Queryable } from '../postgres/database.ts';
import type { PullFindings } from './pull-history.ts';
import type { PullSubject, PullTransaction } from './pull-transaction.ts';
import { EXPIRED_ROWS } from './record-hashes.ts';

/** Beyond this, analysing the backlog costs less than working on it with stale query plans. */
const MANY_CHANGES = 1_000;

/**
 * Writes the pull's row and the feed's state, checks law 2 against the tables themselves, and commits. If the counts do not
 * add up, throws with nothing committed.
 */
export async function commitPull(
  pullTx: PullTransaction,
  findings: PullFindings,
  state: Omit<FeedStateUpdate, keyof PullSubject>,
): Promise<void> {
  const { pull, feed } = pullTx.subject;
  const open = await countOpen(pullTx.session, feed);
  const { complete, seen, unchanged, duplicates, unreadable, skipped, gone, grace } = findings;
  const { pending, in_doubt, rejected, failed, held, kept, pendingDeletes, failedDeletes } = open;
  checkAccounts(
    { seen, unchanged, created: 0, updated: 0, rejected, in_doubt, pending, failed, duplicates, unreadable, skipped },
    complete ? { gone, deleted: 0, held, kept, grace, pendingDeletes, failedDeletes } : undefined,
  );
  await pullTx.session.query(
    `update pull set committed_at = now(), complete = $2, shortfalls = $3, seen = $4, unchanged = $5, duplicates = $6,
       unreadable = $7, gone = $8, grace = $9, bytes = $10, skipped = $11, expired = $12, weak = $13, copy = $14 where id = $1`,
    [
      pull,
      findings.complete,
      toJsonb(findings.shortfalls),
      findings.seen,
      findings.unchanged,
      findings.duplicates,
      findings.unreadable,
      findings.gone,
      findings.grace,
      findings.bytes,
      findings.skipped,
      findings.expired,
      findings.weak ?? null,
      findings.copy === undefined ? null : toJsonb(findings.copy),
    ],
  );
  await writeFeedState(pullTx.session, { ...pullTx.subject, ...state });
  // Workers cached their query plans for a smaller backlog; new statistics invalidate these plans.
  const changes = pullTx.added + pullTx.superseding + gone;
  if (changes > MANY_CHANGES) await pullTx.session.query('analyze (skip_locked) change');
  await pullTx.session.query('commit');
  pullTx.session.giveBack();
}

/** Commits a pull whose feed is unchanged since the last complete pull, with that pull's counts. */
export function commitUnmodified(db: Database, subject: PullSubject): Promise<void> {
  const { pull, feed, createOnly, policy } = subject;
  return db.transaction(async (tx) => {
    await lockOutcomes(tx, feed);
    await refuseOvertaken(tx, feed, pull);
    await takeOver({ session: tx, subject });
    const open = await countOpen(tx, feed);
    const waiting = open.pending + open.in_doubt + open.rejected + open.failed;
    const gone = open.held + open.kept + open.pendingDeletes + open.failedDeletes;
    await tx.query(
      `update pull set committed_at = now(), complete = true, seen = l.seen, duplicates = l.duplicates,
         unreadable = l.unreadable, skipped = l.skipped, expired = l.expired, weak = l.weak,
         unchanged = l.seen - l.duplicates - l.unreadable - l.skipped - $2, gone = $3
       from feed_state f join pull l on l.id = f.current_pull where f.feed = $4 and pull.id = $1`,
      [pull, waiting, gone, feed],
    );
    await tx.query(
      'update feed_state set current_pull = $1, retired_at = null, create_only_fields = $3, policy = $4 where feed = $2',
      [pull, feed, createOnlyNames(createOnly), policy],
    );
  });
}

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

/** A feed that was found complete, with no two equal records. */
export interface UnchangedFeed {
  /** Hashes of all records, in hex, as stored. */
  readonly hashes: ReadonlySet<string>;
  readonly bytes: number;
  /** See `PullFindings`. */
  readonly weak: string | undefined;
  /** The same. */
  readonly copy: FeedCopy | undefined;
  /** The version of its source, if it has versions. */
  readonly version: string | undefined;
  /** See `FeedStateUpdate`. */
  readonly filledSources: FeedStateUpdate['filledSources'];
  /** The same. */
  readonly listedRecords: readonly Buffer[] | undefined;
  /** Postings of the feed expire. None is due. */
  readonly expires: boolean;
}

/**
 * Commits the pull if the feed's mappings and skipped records have exactly these record hashes and the feed has no open
 * changes, notes or review entries. Returns whether it committed; if not, nothing was written.
 */
export function commitUnchanged(db: Database, subject: PullSubject, found: UnchangedFeed): Promise<boolean> {
  const { pull, feed } = subject;
  const { hashes, bytes, version, filledSources, listedRecords } = found;
  return db.transaction(async (tx) => {
    await Promise.all([noWait(tx), lockOutcomes(tx, feed)]);
    const skipped = await skippedIfUnchanged(tx, subject, found);
    if (skipped === undefined) return false;
    await refuseOvertaken(tx, feed, pull);
    await takeOver({ session: tx, subject });
    await Promise.all([
      tx.query(
        `update pull set committed_at = now(), complete = true, seen = $2, unchanged = $5, bytes = $3, skipped = $4, expired = $6, weak = $7,
           copy = $8 where id = $1`,
        [
          ...[pull, hashes.size, bytes, skipped.all, hashes.size - skipped.all, skipped.expired, found.weak ?? null],
          found.copy === undefined ? null : toJsonb(found.copy),
        ],
      ),
      writeFeedState(tx, { ...subject, version, weakAnswer: null, filledSources, listedRecords }),
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
