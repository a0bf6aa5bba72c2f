-- Review entries are found by the beginnings of words, and counted by age, without reading all of them.

-- The words of a text in lower case: whatever punctuation and spaces separate. Not the parser of the server's text search, which
-- takes "ICU/CCU" for the name of a file.
create function words_of(said text) returns text[] language sql immutable parallel safe as $$
  select array_remove(string_to_array(regexp_replace(lower(left(said, 500)),
    '[\u0001-\u002F\u003A-\u0040\u005B-\u0060\u007B-\u00BF\u2000-\u206F\u3000-\u303F]+', ' ', 'g'), ' '), '')
$$;

-- Each word of the text begins a word, each of one or two characters is one. Null without any word. `mark` is put before each.
create function word_query(said text, mark text default '') returns tsquery language sql immutable parallel safe as $$
  select string_agg('''' || mark || word || '''' || case when length(word) > 2 then ':*' else '' end, ' & ')::tsquery
  from unnest(words_of(said)) word
$$;

-- What entries are counted by, as one number: comparing texts takes most of the time of counting.
create function entry_part(discarded boolean, group_id text, kind text, feed text, site text) returns bigint
language sql immutable parallel safe as $$
  select hashtextextended(
    case when discarded then 'd ' else 'w ' end || group_id || ' ' || kind || ' ' || feed || ' ' || coalesce(site, ''), 0)
$$;

-- Words of key, title, value and message, and those of the title once more after "=".
alter table review_entry add column words tsvector;
update review_entry e set words = array_to_tsvector(words_of(e.search) || array(
  select '=' || word from unnest(words_of(
    (select coalesce(c.fields, c.sent_fields)->>'title' from change c where c.id = e.id))) word));
alter table review_entry alter column words set not null, drop column search,
  add column part bigint not null generated always as (entry_part(discarded, group_id, kind, feed, site)) stored;

-- The list of words that are not yet in order is read by each search, so it stays short.
create index review_entry_words on review_entry using gin (words) with (gin_pending_list_limit = 512);
-- Finds the oldest and the newest entry of a part, and counts entries by age without the wide rows.
create index review_entry_by_part on review_entry (part, since, id) include (revision, value);
drop index review_entry_by_age;

create or replace function write_review_entry(
  entry bigint, kind text, discarded boolean, feed text, key text, site text, fields json, reason jsonb, since timestamptz,
  revision bigint)
returns void language plpgsql as $$
declare
  field text := reason->'problems'->0->>'field';
  said text := coalesce(
    reason->'problems'->0->>'message', reason->>'message', reason->>'note', 'no reason recorded');
  value text := coalesce(reason->'problems'->0->>'value', fields->>field);
  title text := fields->>'title';
  -- Our own messages quote the values that they name.
  form text := normal_message(said, value, key, case when reason->>'kind' in ('rules', 'guard') then null else fields end);
begin
  insert into review_entry as e (
    id, group_id, kind, discarded, feed, key, site, field, message, value, since, words, revision)
  values (
    entry, review_group_id(kind, field, form, feed), kind, discarded, feed, key, site, field, form, left(value, 100), since,
    array_to_tsvector(words_of(concat_ws(' ', key, title, left(value, 100), said))
      || array(select '=' || word from unnest(words_of(title)) word)),
    revision)
  on conflict (id) do update set
    group_id = excluded.group_id, kind = excluded.kind, discarded = excluded.discarded, feed = excluded.feed,
    key = excluded.key, site = excluded.site, field = excluded.field, message = excluded.message,
    value = excluded.value, since = excluded.since, words = excluded.words, revision = excluded.revision;
end
$$;
