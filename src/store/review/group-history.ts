// Notes how many entries each group has, about once an hour, and groups the entries from before groups existed.
import { type Database, IS_WRITABLE, type Queryable } from '../postgres/database.ts';

/** Only the largest groups are noted: a site may put something else into each message. */
const MOST_GROUPS = 1_000;
/** Trends need one day; the rest shows when a group appeared and disappeared. */
const KEPT_DAYS = 90;

/** Notes each count that has changed since it was last noted; a group without entries gets a zero. */
export async function noteGroupCounts(db: Queryable): Promise<void> {
  await db.query(
    `with current as (
       select group_id, count(*) as n, min(since) as first from review_entry where not discarded
       group by group_id order by 2 desc, group_id limit ${MOST_GROUPS}),
     noted as (
       select distinct on (group_id) group_id, n from review_group_count order by group_id, at desc)
     insert into review_group_count (group_id, at, n)
     select coalesce(c.group_id, l.group_id), case when l.n is null then least(c.first, now()) else now() end, coalesce(c.n, 0)
     from current c full join noted l using (group_id)
     where coalesce(c.n, 0) is distinct from l.n
       and (c.n is not null or not exists (
         select from review_entry e where e.group_id = l.group_id and not e.discarded))
     on conflict (group_id, at) do update set n = excluded.n`,
  );
}

/** Removes what no trend needs: all but the first and the newest count, and groups that have been empty for long. */
export async function forgetGroupCounts(db: Queryable): Promise<void> {
  await db.query(
    `delete from review_group_count o where o.at < now() - make_interval(days => ${KEPT_DAYS})
       and exists (select from review_group_count y where y.group_id = o.group_id and y.at > o.at)
       and exists (select from review_group_count y where y.group_id = o.group_id and y.at < o.at)`,
  );
  await db.query(
    `delete from review_group_count o where not exists (
       select from review_group_count y where y.group_id = o.group_id
         and (y.at >= now() - make_interval(days => ${KEPT_DAYS})
           or (y.n > 0 and not exists (select from review_group_count z where z.group_id = y.group_id and z.at > y.at))))`,
  );
}

/** Whether entries from before groups existed are not grouped yet, and can be. */
export async function hasUngrouped(db: Queryable): Promise<boolean> {
  return (await db.query(`select from ungrouped_entry where after_id < last_id and ${IS_WRITABLE}`)).length > 0;
}

/** Rows with the kind and number of the entries of feed $1 that are not grouped yet, as while the server is read-only since then. */
export const UNGROUPED_COUNTS = `(select old.kind, count(*) as n
  from ungrouped_entry u cross join lateral (
    select id, state as kind from change where feed = $1 and id > u.after_id and id <= u.last_id
      and state in ('rejected', 'failed', 'held', 'in_doubt')
    union all
    select id, kind from record_problem where feed = $1 and id > u.after_id and id <= u.last_id and not discarded) old
  where not exists (select from review_entry e where e.id = old.id) group by old.kind)`;

// Changes are locked in the order that all code uses, so that none is altered between reading and grouping it.
const GROUP_CHANGES = `with chosen as materialized (
    select c.* from change c where c.id > $1 and c.id <= $2
      and c.state in ('rejected', 'failed', 'held', 'in_doubt', 'discarded')
    order by c.feed, c.key for update),
  written as materialized (
    select write_review_entry(id, case when state = 'discarded' then coalesce(discarded_from, 'rejected') else state end,
      state = 'discarded', feed, key, site, coalesce(fields, sent_fields), reason, since,
      entry_revision(state, revision, attempt_token, found_job_id, reason)) from chosen)
  select count(*) from written`;

const GROUP_RECORDS = `with chosen as materialized (
    select p.* from record_problem p where p.id > $1 and p.id <= $2 order by p.id for update),
  written as materialized (
    select write_review_entry(id, kind, discarded, feed, key, null, null, jsonb_build_object('problems', problems), since,
      revision)
    from chosen)
  select count(*) from written`;

/** Groups the entries of the next `limit` entry numbers. Returns `false` once all are grouped. */
export async function groupOlderEntries(db: Database, limit = 5_000): Promise<boolean> {
  return db.transaction(async (tx) => {
    const [row] = await tx.query<{ after_id: number; last_id: number }>('select * from ungrouped_entry for update');
    if (row === undefined) return false;
    const end = Math.min(row.last_id, row.after_id + limit);
    await tx.query(GROUP_CHANGES, [row.after_id, end]);
    await tx.query(GROUP_RECORDS, [row.after_id, end]);
    if (end < row.last_id) await tx.query('update ungrouped_entry set after_id = $1', [end]);
    else await tx.query('delete from ungrouped_entry');
    return end < row.last_id;
  });
}
