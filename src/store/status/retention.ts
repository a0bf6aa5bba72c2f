// Removes rows beyond their retention, in whole parts or in small batches; the first process in each hour does it for all.

import { type Database, type Queryable, returnsRow } from '../postgres/database.ts';
import { forgetKeptRecords } from '../pull/posting-notes.ts';
import { forgetRuleEntries } from '../review/rules.ts';
import { PARTED_TABLES, type PartedTable, renewParts } from './parts.ts';

/** How long rows are kept. */
export interface RetentionDays {
  readonly requests: number;
  readonly failures: number;
  readonly audit: number;
  readonly pulls: number;
  /** What the site had before each pull changed it. */
  readonly undo: number;
}

/** How long the rows of a table in parts are kept. */
export const daysKept = (table: PartedTable, days: RetentionDays): number =>
  table === 'request' ? days.requests : days.failures;

/** Whether this process should remove old rows now; `false` if another one did so within the hour. */
export const claimRetention = (db: Queryable): Promise<boolean> =>
  returnsRow(
    db,
    `update installation set old_rows_removed_at = now() where old_rows_removed_at is null
       or old_rows_removed_at not between now() - interval '1 hour' and now() returning id`,
  );

/** The process did not finish: the next one that asks continues. */
export async function resumeRetentionSoon(db: Queryable): Promise<void> {
  await db.query('update installation set old_rows_removed_at = null');
}

/** Longer than an event is sent again by itself, and than a long weekend. */
const POSTING_EVENT_DAYS = 7;

/** A pull has some dozens of rows of outcome counts, which are removed with it. */
const ROWS_OF_A_PULL = 50;

/**
 * Removes rows that are beyond their retention or no longer matter, until none is left or `signal` aborts. Deletes `limit`
 * rows per statement, so that no statement holds locks for long. Keeps what open changes, live postings and retired feeds
 * need.
 */
export async function forgetOldRows(
  db: Database,
  days: RetentionDays,
  signal: AbortSignal,
  limit = 10_000,
): Promise<void> {
  const forget = async (table: string, column: string, retention: number, extra = '', most = limit) => {
    for (let removed = most; removed === most && !signal.aborted; ) {
      const [row] = await db.query<{ n: number }>(
        `with gone as (
           delete from ${table} where ctid = any(array(select ctid from ${table} t
             where ${column} < now() - make_interval(days => $1) ${extra} limit $2)) returning 1)
         select count(*) as n from gone`,
        [retention, most],
      );
      removed = row?.n ?? 0;
    }
  };
  // Whatever keeps the parts of a table from being renewed does not keep other rows.
  const failed: unknown[] = [];
  for (const table of PARTED_TABLES) {
    if (signal.aborted) return;
    const kept = daysKept(table, days);
    try {
      const renewed = await renewParts(db, table, kept);
      failed.push(...renewed.failed);
      for (const part of renewed.byRow) await forget(part, 'at', kept);
    } catch (error) {
      failed.push(error);
    }
  }
  // A process with an older configuration must not create the jobs of a renamed feed again, however long ago that was.
  await forget('audit', 'at', days.audit, "and action <> 'rename feed'");
  // An open one goes on, however long it waits for a site or for a person.
  await forget('bulk_action', 'touched_at', days.audit, "and state <> 'open'", Math.ceil(limit / 1_000));
  // The delete guard counts the deletes of the last 24 hours.
  await forget('deletion', 'deleted_at', Math.max(2, days.requests));
  await forget(
    'pull',
    'started_at',
    days.pulls,
    // The deletes of an undo are those of a person, also of a feed whose policy deletes nothing.
    `and not exists (select from feed_state f where f.current_pull = t.id)
     and (t.undoes is null or not exists (select from change c where c.feed = t.feed and c.desired = 'absent' and c.pull = t.id))`,
    Math.ceil(limit / ROWS_OF_A_PULL),
  );
  // First no pull of that age can be undone any more. A day later, its rows are surely not needed by an undo under way.
  await db.query('update pull set undoable = false where undoable and started_at < now() - make_interval(days => $1)', [
    days.undo,
  ]);
  await forget('former_document', 'at', days.undo + 1);
  // A row without fields only stood for a request that might have arrived late.
  await forget('uncertain_write', 'until', 1, 'and fields is null');
  // Those of postings that are gone. Those of skipped records stay while the list has them: a new detail may show a posting.
  // That of a record with several places has the key of none, so it goes when the list has been without the record for a day.
  await forget(
    'detail',
    'unlisted_at',
    1,
    `and not exists (select from mapping m where m.feed = t.feed and m.key = t.key)
     and not exists (select from change c where c.feed = t.feed and c.key = t.key)`,
    Math.ceil(limit / 10),
  );
  // A detail that a list still needs is requested far more often, if the feed is pulled.
  await forget('failed_detail', 'tried_at', 7);
  await forget('alert_message', 'created_at', 7, "and state = 'delivered'");
  // Events of postings may be millions.
  await forget('alert_message', 'created_at', 1, "and state = 'delivered' and topic = 'posting'");
  await forget('alert_message', 'created_at', POSTING_EVENT_DAYS, "and topic = 'posting'");
  // Undeliverable ones, and those of destinations that no process has any more.
  await forget('alert_message', 'created_at', days.failures);
  // A process that still uses such a token tries it far more often. What was read with a token counts only if its last refusal is over.
  await forget('refused_token', 'changed_at', 7, 'and (t.refused_at is null or t.accepted_at > t.refused_at)');
  await forget('refused_token', 'changed_at', 366);
  // Those that ended at their time.
  await forget('pause', 'until', 7);
  // Sessions end after seven days, and requests may be repeated for one.
  await forget('web_session', 'created_at', 7);
  await forget('web_request', 'claimed_at', 1);
  while (!signal.aborted && (await forgetRuleEntries(db, limit)) === limit);
  while (!signal.aborted && (await forgetKeptRecords(db, limit)) === limit);
  if (failed.length > 0) throw failed[0];
}
