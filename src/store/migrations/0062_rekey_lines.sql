-- Which new posting of a feed whose keys seem to have changed may be which missing one, so that a page reads only its own lines.

-- Another number whenever a pull has found other postings: see rekey_survey.
alter table feed_state add column rekey_set bigint not null default 0;

-- The lines of a feed are those of this rekey_set, apart from what rekey_touched names.
create table rekey_survey (
  feed text primary key,
  rekey_set bigint not null
);

-- A pair, or a posting without one. While lines are replaced, a posting may be in two of them.
create table rekey_line (
  feed text not null,
  show text not null check (show in ('sure', 'unsure', 'new', 'missing')),
  -- 1: the same content, 2: alike, 3: no pair.
  rank smallint not null,
  -- Of the new posting, or of the missing one that is no pair: lines are in the order of these keys, numbers by their size.
  named_length integer not null,
  named text collate "C" not null,
  key text,
  old_key text,
  site_job_id text,
  title text,
  reasons jsonb not null,
  contents text not null,
  -- Another one after each change of the line.
  version text not null
);
create index rekey_line_place on rekey_line (feed, show, rank, named_length, named);
create index rekey_line_key on rekey_line (feed, key);
create index rekey_line_old_key on rekey_line (feed, old_key);

-- How many lines there are, and the sum of numbers made of their versions: another one if there are other lines.
create table rekey_total (
  feed text not null,
  show text not null,
  n bigint not null,
  mark numeric not null,
  primary key (feed, show)
);

-- Postings of rekey_posting that have changed since their lines were written. Writers only append.
create table rekey_touched (
  feed text not null,
  key text not null,
  content text,
  likeness text
);
create index on rekey_touched (feed);

create function touch_rekey(of_feed text, of_key text) returns void language plpgsql as $$
begin
  -- Few feeds have a row in rekey_posting, and mostly none has.
  if exists (select from feed_state where feed = of_feed and rekey_since is not null) then
    insert into rekey_touched select feed, key, content, likeness from rekey_posting
    where feed = of_feed and is_new = any(array[true, false]) and key = of_key;
  end if;
end
$$;

create function touch_rekey_mappings() returns trigger language plpgsql as $$
begin
  if exists (select from feed_state where rekey_since is not null) then
    insert into rekey_touched select a.feed, a.key, r.content, r.likeness from altered a cross join lateral (
      select content, likeness from rekey_posting
      where feed = a.feed and is_new = any(array[true, false]) and key = a.key offset 0) r;
  end if;
  return null;
end
$$;
create trigger rekey_mapping_added after insert on mapping referencing new table as altered for each statement
  execute function touch_rekey_mappings();
create trigger rekey_mapping_removed after delete on mapping referencing old table as altered for each statement
  execute function touch_rekey_mappings();

create function touch_rekey_posting() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    perform touch_rekey(old.feed, old.key);
  end if;
  if tg_op <> 'DELETE' then
    perform touch_rekey(new.feed, new.key);
  end if;
  return null;
end
$$;
create trigger rekey_mapping_altered after update of key, site_job_id, content_hash on mapping for each row
  when ((old.key, old.site_job_id, old.content_hash) is distinct from (new.key, new.site_job_id, new.content_hash))
  execute function touch_rekey_posting();
-- A pull adds the changes of the postings that it finds, and compares them itself.
create trigger rekey_change_altered after update of key, operation, desired, content_hash on change for each row
  when ((old.key, old.operation, old.desired, old.content_hash)
    is distinct from (new.key, new.operation, new.desired, new.content_hash))
  execute function touch_rekey_posting();
create trigger rekey_change_removed after delete on change for each row execute function touch_rekey_posting();
create trigger rekey_override_written after insert or delete or update of key on override for each row
  execute function touch_rekey_posting();
create trigger rekey_expiry_added after insert on posting_expiry for each row
  when (new.expired_at is not null) execute function touch_rekey_posting();
create trigger rekey_expiry_altered after update of key, expired_at on posting_expiry for each row
  when ((old.key, old.expired_at is null) is distinct from (new.key, new.expired_at is null))
  execute function touch_rekey_posting();
create trigger rekey_expiry_removed after delete on posting_expiry for each row
  when (old.expired_at is not null) execute function touch_rekey_posting();
