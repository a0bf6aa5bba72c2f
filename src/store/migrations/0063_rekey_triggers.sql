-- A pull that finds other postings has all of them compared again, also one of a process of a former version.
create function renew_rekey_set() returns trigger language plpgsql as $$
begin
  update feed_state set rekey_set = nextval('revision_number') where feed in (select feed from altered);
  return null;
end
$$;
create trigger rekey_posting_added after insert on rekey_posting referencing new table as altered for each statement
  execute function renew_rekey_set();

-- In one function, as each change that is sent calls it.
create or replace function touch_rekey_posting() returns trigger language plpgsql as $$
declare
  of_feed text;
  keys text[];
begin
  if tg_op = 'INSERT' then
    of_feed := new.feed;
    keys := array[new.key];
  elsif tg_op = 'DELETE' then
    of_feed := old.feed;
    keys := array[old.key];
  else
    of_feed := new.feed;
    keys := array[old.key, new.key];
  end if;
  -- Few feeds have a row in rekey_posting, and mostly none has.
  if exists (select from feed_state where feed = of_feed and rekey_since is not null) then
    insert into rekey_touched select feed, key, content, likeness from rekey_posting
    where feed = of_feed and is_new = any(array[true, false]) and key = any(keys);
  end if;
  return null;
end
$$;
drop function touch_rekey(text, text);
