-- Besides its state, some facts about a change decide what can be done about its review entry. They are written with the entry, and
-- entries are counted by them, so that what an action offers is exactly what it acts on.

-- Whether what the source has of a posting is known only after the next pull: the record hashes of `unread-hash.ts`.
create function is_source_unknown(record_hash bytea, key text) returns boolean language sql immutable parallel safe as $$
  select record_hash is null or record_hash in (
    decode(md5('imported ' || key), 'hex'), decode(md5('adopted ' || key), 'hex'), decode(md5('recovered ' || key), 'hex'),
    decode(md5('planned again ' || key), 'hex'), decode(md5('unsent edit ' || key), 'hex'), decode(md5('undone ' || key), 'hex'))
$$;

-- In this order. See `src/plan/allowed.ts`. Unlike one of SQL, this function is planned once for each session.
create function change_circumstances(desired text, pull bigint, gone boolean, invalid boolean, record_hash bytea, key text)
returns text[] language plpgsql stable as $$
declare
  facts text[] := '{}';
begin
  if desired = 'absent' then
    facts := array['absent'];
    if exists (select from pull p where p.id = change_circumstances.pull and p.undoes is not null) then
      facts := facts || 'undo'::text;
    end if;
  end if;
  if gone then
    facts := facts || 'missing'::text;
  end if;
  if invalid then
    facts := facts || 'invalid'::text;
  end if;
  if desired = 'present' and is_source_unknown(record_hash, key) then
    facts := facts || 'unread'::text;
  end if;
  return facts;
end
$$;

create function counted_part(discarded boolean, group_id text, kind text, feed text, site text, circumstances text[]) returns bigint
language sql immutable parallel safe as $$
  select hashtextextended(
    case when discarded then 'd ' else 'w ' end || group_id || ' ' || kind || ' ' || feed || ' ' || coalesce(site, '')
      || case when circumstances = '{}' then '' else ' ' || array_to_string(circumstances, ',') end, 0)
$$;

drop trigger review_entry_tallied_again on review_entry;
alter table review_entry add column circumstances text[] not null default '{}';
update review_entry e
set circumstances = c.circumstances, part = counted_part(e.discarded, e.group_id, e.kind, e.feed, e.site, c.circumstances)
from (select id, change_circumstances(desired, pull, gone, invalid, record_hash, key) as circumstances from change
      where state in ('rejected', 'failed', 'held', 'in_doubt', 'discarded')) c
where c.id = e.id and c.circumstances <> '{}';

-- Counted anew.
truncate review_tally, review_total, review_value_total;
alter table review_tally add column circumstances text[] not null default '{}';
alter table review_total add column circumstances text[] not null default '{}';
drop index review_total_key;
create unique index review_total_key on review_total (group_id, discarded, kind, feed, coalesce(site, ''), circumstances);
insert into review_total (discarded, group_id, kind, feed, site, circumstances, n, mark)
select discarded, group_id, kind, feed, site, circumstances, count(*), sum(hashint8extended(id, revision))
from review_entry group by 1, 2, 3, 4, 5, 6;
insert into review_value_total (discarded, group_id, kind, feed, site, value, n)
select discarded, group_id, kind, feed, site, value, count(*)
from review_entry where value is not null group by 1, 2, 3, 4, 5, 6;

create or replace function tally_review_entry() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    insert into review_tally (discarded, group_id, kind, feed, site, circumstances, value, n, mark)
    values (old.discarded, old.group_id, old.kind, old.feed, old.site, old.circumstances, old.value, -1,
      hashint8extended(old.id, old.revision));
  end if;
  if tg_op <> 'DELETE' then
    insert into review_tally (discarded, group_id, kind, feed, site, circumstances, value, n, mark)
    values (new.discarded, new.group_id, new.kind, new.feed, new.site, new.circumstances, new.value, 1,
      hashint8extended(new.id, new.revision));
  end if;
  return null;
end
$$;
create trigger review_entry_tallied_again after update on review_entry for each row
  when ((old.discarded, old.group_id, old.kind, old.feed, old.site, old.circumstances, old.value, old.id, old.revision)
    is distinct from (new.discarded, new.group_id, new.kind, new.feed, new.site, new.circumstances, new.value, new.id, new.revision))
  execute function tally_review_entry();

create or replace function fold_review_tally() returns void language plpgsql as $$
declare
  touched text[];
begin
  -- Whoever folds at this moment does it for all; this statement and the next have snapshots of their own.
  if not pg_try_advisory_xact_lock(5206114902) then
    return;
  end if;
  with gone as materialized (delete from review_tally returning *),
  by_group as (
    insert into review_total as t (discarded, group_id, kind, feed, site, circumstances, n, mark)
    select discarded, group_id, kind, feed, site, circumstances, sum(n), sum(n * mark::numeric) from gone group by 1, 2, 3, 4, 5, 6
    on conflict (group_id, discarded, kind, feed, coalesce(site, ''), circumstances)
      do update set n = t.n + excluded.n, mark = t.mark + excluded.mark),
  by_value as (
    insert into review_value_total as t (discarded, group_id, kind, feed, site, value, n)
    select discarded, group_id, kind, feed, site, value, sum(n) from gone where value is not null group by 1, 2, 3, 4, 5, 6
    having sum(n) <> 0
    on conflict (group_id, discarded, kind, feed, coalesce(site, ''), value) do update set n = t.n + excluded.n)
  select array_agg(distinct group_id) into touched from gone;
  delete from review_total where n = 0 and group_id = any(touched);
  delete from review_value_total where n = 0 and group_id = any(touched);
end
$$;

drop function write_review_entry(bigint, text, boolean, text, text, text, json, jsonb, timestamptz, bigint);

-- Writes the row of an entry. `reason`: an object with a message and perhaps problems, of which the first one counts.
create function write_review_entry(
  entry bigint, kind text, discarded boolean, feed text, key text, site text, fields json, reason jsonb, since timestamptz,
  revision bigint, circumstances text[])
returns void language plpgsql as $$
declare
  field text := reason->'problems'->0->>'field';
  said text := coalesce(
    reason->'problems'->0->>'message', reason->>'message', reason->>'note', 'no reason recorded');
  value text := coalesce(reason->'problems'->0->>'value', fields->>field);
  title text := fields->>'title';
  -- Our own messages quote the values that they name.
  form text := normal_message(said, value, key, case when reason->>'kind' in ('rules', 'guard') then null else fields end);
  group_id text := review_group_id(kind, field, form, feed);
begin
  insert into review_entry as e (
    id, group_id, kind, discarded, feed, key, site, field, message, value, since, words, revision, circumstances, part)
  values (
    entry, group_id, kind, discarded, feed, key, site, field, form, left(value, 100), since,
    array_to_tsvector(words_of(concat_ws(' ', key, title, left(value, 100), said))
      || array(select '=' || word from unnest(words_of(title)) word)),
    revision, circumstances, counted_part(discarded, group_id, kind, feed, site, circumstances))
  on conflict (id) do update set
    group_id = excluded.group_id, kind = excluded.kind, discarded = excluded.discarded, feed = excluded.feed,
    key = excluded.key, site = excluded.site, field = excluded.field, message = excluded.message,
    value = excluded.value, since = excluded.since, words = excluded.words, revision = excluded.revision,
    circumstances = excluded.circumstances, part = excluded.part;
end
$$;

create or replace function group_change() returns trigger language plpgsql as $$
declare
  own bigint := entry_revision(new.state, new.revision, new.attempt_token, new.found_job_id, new.reason);
  facts text[] := change_circumstances(new.desired, new.pull, new.gone, new.invalid, new.record_hash, new.key);
begin
  -- A doubt is checked again and again.
  if tg_op = 'UPDATE' and old.state = new.state and old.since = new.since and old.feed = new.feed
    and old.reason is not distinct from new.reason and old.content_hash is not distinct from new.content_hash then
    update review_entry e
    set revision = own, circumstances = facts, part = counted_part(e.discarded, e.group_id, e.kind, e.feed, e.site, facts)
    where e.id = new.id and (e.revision <> own or e.circumstances <> facts);
    return null;
  end if;
  if new.state in ('rejected', 'failed', 'held', 'in_doubt', 'discarded') then
    perform write_review_entry(
      new.id, case when new.state = 'discarded' then coalesce(new.discarded_from, 'rejected') else new.state end,
      new.state = 'discarded', new.feed, new.key, new.site, coalesce(new.fields, new.sent_fields), new.reason, new.since, own, facts);
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
    new.revision, '{}');
  return null;
end
$$;

-- The function `entry_part` stays. The column `part` was generated by it until 0067, and Postgres 14 still drops the column together with
-- it. The new function has a name of its own: a restore drops functions by their names.
