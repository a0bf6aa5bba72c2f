// Notes how many entries each group has, about once an hour.
import type { Queryable } from '../postgres/database.ts';

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
