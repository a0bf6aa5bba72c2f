-- How many review entries there are, by group, feed, site and value, so that no page counts them one by one. Writers only append to
-- review_tally, so that none waits for another; fold_review_tally moves its rows into the totals. The numbers are the sums of both.

-- As in change or record_problem.
alter table review_entry add column revision bigint;
update review_entry e set revision = c.revision from change c where c.id = e.id;
update review_entry e set revision = p.revision from record_problem p where p.id = e.id;
-- An entry without a change or record would be counted for ever.
delete from review_entry where revision is null;
alter table review_entry alter column revision set not null;

create table review_total (
  discarded boolean not null,
  group_id text not null,
  kind text not null,
  feed text not null,
  site text,
  n bigint not null,
  -- Sum of hashes of the entries and their revisions: another one if other entries are counted, or one of them has changed.
  mark numeric not null
);
create unique index review_total_key on review_total (group_id, discarded, kind, feed, coalesce(site, ''));

create table review_value_total (
  discarded boolean not null,
  group_id text not null,
  kind text not null,
  feed text not null,
  site text,
  value text not null,
  n bigint not null
);
create unique index review_value_total_key on review_value_total (group_id, discarded, kind, feed, coalesce(site, ''), value);

create table review_tally (
  discarded boolean not null,
  group_id text not null,
  kind text not null,
  feed text not null,
  site text,
  value text,
  -- 1: an entry was added; -1: it was removed.
  n smallint not null,
  mark bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

insert into review_total
select discarded, group_id, kind, feed, site, count(*), sum(hashint8extended(id, revision))
from review_entry group by 1, 2, 3, 4, 5;
insert into review_value_total
select discarded, group_id, kind, feed, site, value, count(*)
from review_entry where value is not null group by 1, 2, 3, 4, 5, 6;

-- Finds the oldest and the newest entry of a group, and selects entries by age without the wide rows.
create index review_entry_by_age on review_entry (discarded, group_id, since) include (kind, feed, site, value);
drop index review_entry_counts;

create function tally_review_entry() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    insert into review_tally values (old.discarded, old.group_id, old.kind, old.feed, old.site, old.value, -1,
      hashint8extended(old.id, old.revision));
  end if;
  if tg_op <> 'DELETE' then
    insert into review_tally values (new.discarded, new.group_id, new.kind, new.feed, new.site, new.value, 1,
      hashint8extended(new.id, new.revision));
  end if;
  return null;
end
$$;
create trigger review_entry_tallied after insert or delete on review_entry for each row
  execute function tally_review_entry();
create trigger review_entry_tallied_again after update on review_entry for each row
  when ((old.discarded, old.group_id, old.kind, old.feed, old.site, old.value, old.id, old.revision)
    is distinct from (new.discarded, new.group_id, new.kind, new.feed, new.site, new.value, new.id, new.revision))
  execute function tally_review_entry();

create function fold_review_tally() returns void language plpgsql as $$
declare
  touched text[];
begin
  -- Whoever folds at this moment does it for all; this statement and the next have snapshots of their own.
  if not pg_try_advisory_xact_lock(5206114902) then
    return;
  end if;
  with gone as materialized (delete from review_tally returning *),
  by_group as (
    insert into review_total as t
    select discarded, group_id, kind, feed, site, sum(n), sum(n * mark::numeric) from gone group by 1, 2, 3, 4, 5
    on conflict (group_id, discarded, kind, feed, coalesce(site, ''))
      do update set n = t.n + excluded.n, mark = t.mark + excluded.mark),
  by_value as (
    insert into review_value_total as t
    select discarded, group_id, kind, feed, site, value, sum(n) from gone where value is not null group by 1, 2, 3, 4, 5, 6
    having sum(n) <> 0
    on conflict (group_id, discarded, kind, feed, coalesce(site, ''), value) do update set n = t.n + excluded.n)
  select array_agg(distinct group_id) into touched from gone;
  delete from review_total where n = 0 and group_id = any(touched);
  delete from review_value_total where n = 0 and group_id = any(touched);
end
$$;

drop function write_review_entry(bigint, text, boolean, text, text, text, json, jsonb, timestamptz);

-- Writes the row of an entry. `reason`: an object with a message and perhaps problems, of which the first one counts.
create function write_review_entry(
  entry bigint, kind text, discarded boolean, feed text, key text, site text, fields json, reason jsonb, since timestamptz,
  revision bigint)
returns void language plpgsql as $$
declare
  field text := reason->'problems'->0->>'field';
  said text := coalesce(
    reason->'problems'->0->>'message', reason->>'message', reason->>'note', 'no reason recorded');
  value text := coalesce(reason->'problems'->0->>'value', fields->>field);
  -- Our own messages quote the values that they name.
  form text := normal_message(said, value, key, case when reason->>'kind' in ('rules', 'guard') then null else fields end);
begin
  insert into review_entry as e (
    id, group_id, kind, discarded, feed, key, site, field, message, value, since, search, revision)
  values (
    entry, review_group_id(kind, field, form, feed), kind, discarded, feed, key, site, field, form, left(value, 100), since,
    lower(left(concat_ws(' ', key, fields->>'title', left(value, 100), said), 500)), revision)
  on conflict (id) do update set
    group_id = excluded.group_id, kind = excluded.kind, discarded = excluded.discarded, feed = excluded.feed,
    key = excluded.key, site = excluded.site, field = excluded.field, message = excluded.message,
    value = excluded.value, since = excluded.since, search = excluded.search, revision = excluded.revision;
end
$$;

create or replace function group_change() returns trigger language plpgsql as $$
begin
  -- A doubt is checked again and again.
  if tg_op = 'UPDATE' and old.state = new.state and old.since = new.since and old.feed = new.feed
    and old.reason is not distinct from new.reason and old.content_hash is not distinct from new.content_hash then
    if old.revision <> new.revision then
      update review_entry set revision = new.revision where id = new.id;
    end if;
    return null;
  end if;
  if new.state in ('rejected', 'failed', 'held', 'in_doubt', 'discarded') then
    perform write_review_entry(
      new.id, case when new.state = 'discarded' then coalesce(new.discarded_from, 'rejected') else new.state end,
      new.state = 'discarded', new.feed, new.key, new.site, coalesce(new.fields, new.sent_fields), new.reason, new.since,
      new.revision);
  else
    delete from review_entry where id = new.id;
  end if;
  return null;
end
$$;

create or replace function group_record() returns trigger language plpgsql as $$
begin
  perform write_review_entry(
    new.id, new.kind, new.discarded, new.feed, new.key, null, null, jsonb_build_object('problems', new.problems), new.since,
    new.revision);
  return null;
end
$$;
