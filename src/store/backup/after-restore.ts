// Makes a restored database safe: it is older than the sites, and what was sent since the backup is not known.
import { type Message, messageOf } from '../../plan/message.ts';
import { plural } from '../../plan/plural.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { auditAction } from '../access/audit.ts';
import { holdRestoredDeletes } from '../change/restored-database.ts';
import type { Database, Queryable } from '../postgres/database.ts';

/** What was set aside. */
export interface SetAside {
  readonly feeds: number;
  /** Deletes that wait for the next complete pull of their feed. */
  readonly heldDeletes: number;
  /** Creates that wait until their site was searched for jobs of their feed. */
  readonly waitingCreates: number;
  /** Jobs without a posting that would have been deleted. */
  readonly orphans: number;
  /** Messages of alerts that were to be sent, and may have been. */
  readonly messages: number;
  /** Actions on many review entries that were not finished. */
  readonly bulkActions: number;
}

/**
 * Within the transaction of the restore, with the newest tables.
 * - No stamp: every site is searched for jobs of its feeds before anything is created (`noticeRestore`).
 * - No version of a source: the next pull of each feed reads it, changed or not.
 * - No schedule: the run that a process had taken is nobody's any more, and a process that starts sets the next one anew.
 */
export async function makeSafe(
  tx: Queryable,
  by: { readonly actor: string; readonly madeAt: string },
): Promise<SetAside> {
  await tx.query('delete from data_stamp');
  // Commands that were printed before the restore must not fit entries that have the same numbers since: see 0101_revisions_by_time.sql.
  await tx.query(
    `select setval('revision_number', greatest(nextval('revision_number'), (extract(epoch from clock_timestamp()) * 100000)::bigint))`,
  );
  const feeds = await count(
    tx,
    `update feed_state set source_version = null, site_checked_at = null, site_check_note = null, site_check_failed_at = null,
       site_declared = false, weak_answer = null, weak_at = null, restored_at = now() returning 1`,
  );
  await tx.query('delete from feed_schedule');
  await tx.query('update feed_verify set run_by = null');
  const heldDeletes = await holdRestoredDeletes(tx);
  const creates = `select 1 from change where state = 'ready' and operation = 'create'`;
  const waitingCreates = await count(tx, creates);
  const orphans = await count(tx, 'delete from orphan_site_job returning 1');
  const messages = await count(
    tx,
    `update alert_message set state = 'dead', claimed_until = null,
       last_error = 'not sent: the database was restored from a backup, and it may have been sent since' where state = 'pending' returning 1`,
  );
  const bulkActions = await count(tx, `update bulk_action set state = 'stopped' where state = 'open' returning 1`);
  const setAside = { feeds, heldDeletes, waitingCreates, orphans, messages, bulkActions };
  const action = `restore the database from a backup of ${by.madeAt}`;
  await auditAction(tx, { actor: by.actor, action, detail: setAside });
  return setAside;
}

async function count(tx: Queryable, statement: string): Promise<number> {
  const [row] = await tx.query<{ n: number }>(`with touched as (${statement}) select count(*) as n from touched`);
  return row?.n ?? 0;
}

/** For so long after a restore, what was made since the backup is asked about. */
const RESTORED_DAYS = 30;

/**
 * Notes that the feed was compared with its site.
 * @param strays jobs that no posting has, and that were made since the backup. @param leftBy who said that they may stay, if somebody did
 */
export async function noteRecovered(
  db: Database,
  feed: FeedName,
  strays: number,
  leftBy: string | undefined,
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query('update feed_state set recovered_at = clock_timestamp(), strays = $2 where feed = $1', [
      feed,
      leftBy === undefined ? strays : 0,
    ]);
    if (leftBy !== undefined && strays > 0)
      await auditAction(tx, { actor: leftBy, action: 'leave jobs without a posting', feed, detail: { jobs: strays } });
  });
}

/** What a person has to know of jobs that were made between the backup and its restore, by feed; empty: nothing. */
export async function restoredNotes(
  db: Queryable,
  feeds: readonly FeedName[],
): Promise<ReadonlyMap<FeedName, Message>> {
  const rows = await db.query<{ feed: FeedName; at: Date; recovered: boolean; strays: number }>(
    `select feed, restored_at as at, coalesce(recovered_at >= restored_at, false) as recovered, strays from feed_state
     where feed = any($1::text[]) and retired_at is null and case when recovered_at >= restored_at then strays > 0
       else restored_at > now() - interval '${RESTORED_DAYS} days' end`,
    [feeds],
  );
  return new Map(rows.map(({ feed, ...restored }) => [feed, describeRestored(feed, restored)]));
}

function describeRestored(
  feed: FeedName,
  { at, recovered, strays }: { readonly at: Date; readonly recovered: boolean; readonly strays: number },
): Message {
  const action = { kind: 'recover_feed', feed } as const;
  if (!recovered)
    return messageOf(
      `feed ${feed}: the database was restored from a backup at ${at.toISOString()}: jobs that were made since the backup, and whose ` +
        'postings have left the feed, are not known here, and nothing ends them',
      [{ words: 'to find them', action }],
    );
  const [have, them] = strays === 1 ? ['has', 'it'] : ['have', 'them'];
  return messageOf(
    `feed ${feed}: ${plural(strays, 'job')} of its site, made since the backup that the database was restored from, ${have} no posting: ` +
      `end ${them} on the site if no posting of yours should have ${them}`,
    [{ words: 'to see which, or to leave them (--leave-strays)', action }],
  );
}
