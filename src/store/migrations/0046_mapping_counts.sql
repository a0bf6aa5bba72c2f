-- How many live jobs each feed has, for display: as with review entries (0045), writers append to mapping_tally, which is folded into
-- mapping_total, and the number is the sum of both. Whatever decides about deletes counts the mappings themselves.

create table mapping_total (
  feed text primary key,
  n bigint not null
);
-- One row per feed for each statement that added or removed mappings.
create table mapping_tally (
  feed text not null,
  n bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

insert into mapping_total select feed, count(*) from mapping group by feed;

create function tally_mappings() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into mapping_tally select feed, count(*) from altered group by feed;
  else
    insert into mapping_tally select feed, -count(*) from altered group by feed;
  end if;
  return null;
end
$$;
create trigger mapping_added after insert on mapping referencing new table as altered for each statement
  execute function tally_mappings();
create trigger mapping_removed after delete on mapping referencing old table as altered for each statement
  execute function tally_mappings();

create function tally_renamed_mapping() returns trigger language plpgsql as $$
begin
  insert into mapping_tally values (old.feed, -1), (new.feed, 1);
  return null;
end
$$;
create trigger mapping_renamed after update of feed on mapping for each row when (old.feed <> new.feed)
  execute function tally_renamed_mapping();

create function fold_mapping_tally() returns void language plpgsql as $$
begin
  -- Whoever folds at this moment does it for all.
  if not pg_try_advisory_xact_lock(5206114903) then
    return;
  end if;
  with gone as (delete from mapping_tally returning *)
  insert into mapping_total as t select feed, sum(n) from gone group by feed
  on conflict (feed) do update set n = t.n + excluded.n;
  delete from mapping_total where n = 0;
end
$$;

-- What the overview counts of discarded changes and records.
create index change_discarded on change (feed) where state = 'discarded' and desired = 'present' and not gone;
create index record_problem_discarded on record_problem (feed) include (records) where discarded and kind <> 'duplicate';
