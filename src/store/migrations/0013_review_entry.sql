-- The entries of review by group: what was said about them, without the values that differ from posting to posting. Triggers keep
-- one narrow row for each change and record that waits for a person or was discarded, whoever writes it.

create table review_entry (
  -- As in change or record_problem.
  id bigint primary key,
  -- Kind, field and message make the group, and of held deletes the feed. Its ID is the same in every installation.
  group_id text not null,
  kind text not null,
  discarded boolean not null,
  feed text not null,
  key text,
  -- Null for records: their site is that of the feed.
  site text,
  field text,
  -- The normal form: "…" stands for each value, number, ID and quoted text.
  message text not null,
  -- The beginning of the value that the message is about.
  value text,
  since timestamptz not null,
  -- Key, title, value and message in lower case. Comparing bytes is much faster than comparing by the rules of a language.
  search text collate "C" not null
)
-- Counting reads the index alone where the table was vacuumed since the last change.
with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
create index review_entry_by_group on review_entry (group_id, id);
-- Counting by group, value, feed and site reads this index in its order, without sorting and without the table.
create index review_entry_counts on review_entry (discarded, group_id, value, feed, site) include (kind, since);

-- How many entries waited in each group, noted about once an hour and only when the number has changed.
create table review_group_count (
  group_id text not null,
  at timestamptz not null,
  n integer not null,
  primary key (group_id, at)
);

-- Entries from before this migration, which maintenance and the first listing of groups add in batches.
create table ungrouped_entry (
  one boolean primary key default true check (one),
  -- The number after which the next batch begins, and the last number to be added.
  after_id bigint not null,
  last_id bigint not null
);
insert into ungrouped_entry (after_id, last_id)
select coalesce(min(id), 1) - 1, coalesce(max(id), 0) from (
  select id from change where state <> 'ready' union all select id from record_problem) entry;

-- A message without what differs from posting to posting: the value, quoted texts, the key and the posting's own fields, and words
-- with digits.
create function normal_message(message text, value text, key text, fields json) returns text
language plpgsql immutable as $$
declare
  form text := left(message, 1000);
  own text;
  at integer;
  shown integer;
begin
  -- Most messages need few of these steps, and each pull with many rejected postings pays for them.
  if length(value) > 0 then
    -- A value may contain quotation marks, so it goes first.
    form := replace(form, '"' || value || '"', '…');
    -- A message may show only the beginning of a long value.
    at := case when length(value) > 40 and strpos(form, value) = 0 then strpos(form, left(value, 40)) else 0 end;
    if at > 0 then
      shown := 40;
      while shown < length(value) and substr(form, at + shown, 1) = substr(value, shown + 1, 1) loop
        shown := shown + 1;
      end loop;
      form := left(form, at - 1) || '…' || substr(form, at + shown);
    end if;
  end if;
  if form <> translate(form, '"“''', '') then
    form := regexp_replace(form, '"[^"]*"|“[^”]*”|(?<!\w)''[^'']*''(?!\w)', '…', 'g');
  end if;
  if fields is not null or strpos(form, value) > 0 or strpos(form, key) > 0 then
    -- The longest first: a value may be part of another. Short ones could be any word, except the value itself.
    for own in
      select part from (
        select value as part where length(value) > 0
        union select key where length(key) > 2
        union select field.value from json_each_text(fields) field
          where length(field.value) between 3 and 1000 and strpos(form, field.value) > 0) parts
      where strpos(form, part) > 0 order by length(part) desc
    loop
      form := regexp_replace(
        form, '(?<!\w)' || regexp_replace(own, '([^\w\s])', '\\\1', 'g') || '(?!\w)', '…', 'g');
    end loop;
  end if;
  if form <> translate(form, '0123456789', '') then
    form := regexp_replace(form, '[^\s"(),;:…]*\d[^\s"(),;:…]*', '…', 'g');
  end if;
  form := regexp_replace(btrim(form), '\s+', ' ', 'g');
  if form like '%…%…%' then
    form := regexp_replace(form, '…([ ,]*…)+', '…', 'g');
  end if;
  return left(form, 300);
end
$$;

-- All held deletes have the same message, and approving them is a decision about one feed.
create function review_group_id(kind text, field text, message text, feed text) returns text
language sql immutable as $$
  select 'g' || left(md5((jsonb_build_array(kind, field, message)
    || case when kind = 'held' then jsonb_build_array(feed) else '[]' end)::text), 10)
$$;

-- Writes the row of an entry. `reason`: an object with a message and perhaps problems, of which the first one counts.
create function write_review_entry(
  entry bigint, kind text, discarded boolean, feed text, key text, site text, fields json, reason jsonb, since timestamptz)
returns void language plpgsql as $$
declare
  field text := reason->'problems'->0->>'field';
  said text := coalesce(
    reason->'problems'->0->>'message', reason->>'message', reason->>'note', 'no reason recorded');
  value text := coalesce(reason->'problems'->0->>'value', fields->>field);
  -- Our own messages quote the values that they name.
  form text := normal_message(said, value, key, case when reason->>'kind' in ('rules', 'guard') then null else fields end);
begin
  insert into review_entry as e (id, group_id, kind, discarded, feed, key, site, field, message, value, since, search)
  values (
    entry, review_group_id(kind, field, form, feed), kind, discarded, feed, key, site, field, form, left(value, 100), since,
    lower(left(concat_ws(' ', key, fields->>'title', left(value, 100), said), 500)))
  on conflict (id) do update set
    group_id = excluded.group_id, kind = excluded.kind, discarded = excluded.discarded, feed = excluded.feed,
    key = excluded.key, site = excluded.site, field = excluded.field, message = excluded.message,
    value = excluded.value, since = excluded.since, search = excluded.search;
end
$$;

create function group_change() returns trigger language plpgsql as $$
begin
  -- A doubt is checked again and again.
  if tg_op = 'UPDATE' and old.state = new.state and old.since = new.since and old.feed = new.feed
    and old.reason is not distinct from new.reason and old.content_hash is not distinct from new.content_hash then
    return null;
  end if;
  if new.state in ('rejected', 'failed', 'held', 'in_doubt', 'discarded') then
    perform write_review_entry(
      new.id, case when new.state = 'discarded' then coalesce(new.discarded_from, 'rejected') else new.state end,
      new.state = 'discarded', new.feed, new.key, new.site, coalesce(new.fields, new.sent_fields), new.reason, new.since);
  else
    delete from review_entry where id = new.id;
  end if;
  return null;
end
$$;

create function group_record() returns trigger language plpgsql as $$
begin
  perform write_review_entry(
    new.id, new.kind, new.discarded, new.feed, new.key, null, null, jsonb_build_object('problems', new.problems), new.since);
  return null;
end
$$;

create function ungroup_entry() returns trigger language plpgsql as $$
begin
  delete from review_entry where id = old.id;
  return null;
end
$$;

-- The conditions keep the triggers away from changes that are only sent.
create trigger change_review_added after insert on change for each row
  when (new.state in ('rejected', 'failed', 'held', 'in_doubt', 'discarded'))
  execute function group_change();
create trigger change_review_altered after update on change for each row
  when (new.state in ('rejected', 'failed', 'held', 'in_doubt', 'discarded')
    or old.state in ('rejected', 'failed', 'held', 'in_doubt', 'discarded'))
  execute function group_change();
create trigger change_review_removed after delete on change for each row
  when (old.state in ('rejected', 'failed', 'held', 'in_doubt', 'discarded'))
  execute function ungroup_entry();
create trigger record_review_written after insert or update on record_problem for each row
  execute function group_record();
create trigger record_review_removed after delete on record_problem for each row
  execute function ungroup_entry();
