-- Tells destinations what became of postings. Triggers write the messages, so that each is part of the transaction that changes
-- the posting, whichever way changed it.

create table posting_subscription (
  destination text not null,
  -- Whose configuration asks for it, as in open_alert.
  evaluator text not null,
  -- Such as posting.mirrored.
  events text[] not null,
  -- Only these; null: all.
  feeds text[],
  -- The feeds of that configuration.
  configured text[] not null,
  -- When a running process last asked for it: it ends some time after the last one.
  confirmed_at timestamptz not null default now(),
  -- So many events are undelivered that no more are written.
  is_full boolean not null default false,
  primary key (destination, evaluator)
);

create function tell_posting(event text, of_feed text, data jsonb) returns void language sql as $$
  insert into alert_message (destination, topic, payload)
  select destination, 'posting', jsonb_build_object(
    'type', event,
    'timestamp', to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'data', jsonb_build_object('feed', of_feed) || data)
  from (select distinct destination from posting_subscription
    where event = any(events) and (feeds is null or of_feed = any(feeds))
      and confirmed_at > now() - interval '1 day' and not is_full) asking
$$;

create function tell_mapping() returns trigger language plpgsql as $$
begin
  -- Most installations tell nobody.
  if not exists (select from posting_subscription) then
    return null;
  end if;
  if tg_op = 'DELETE' then
    perform tell_posting('posting.removed', old.feed,
      jsonb_build_object('key', old.key, 'site', old.site, 'job_id', old.site_job_id, 'url', old.site_job_url));
  else
    perform tell_posting('posting.mirrored', new.feed, jsonb_build_object(
      'key', new.key, 'site', new.site, 'job_id', new.site_job_id, 'url', new.site_job_url,
      'operation', case when tg_op = 'INSERT' then 'created' else 'updated' end));
  end if;
  return null;
end
$$;

-- Imported mappings tell nothing: their jobs were there before.
create trigger tell_created after insert on mapping
  for each row when (not new.adopted) execute function tell_mapping();
-- A content of zeros stands for an unknown one, which an update sets right.
create trigger tell_updated after update of content_hash, site_job_id on mapping
  for each row when ((old.content_hash, old.site_job_id) is distinct from (new.content_hash, new.site_job_id)
    and new.content_hash <> decode(repeat('00', 16), 'hex')) execute function tell_mapping();
create trigger tell_removed after delete on mapping
  for each row execute function tell_mapping();

create function tell_rejected() returns trigger language plpgsql as $$
begin
  if exists (select from posting_subscription) then
    perform tell_posting('posting.rejected', new.feed, jsonb_build_object(
      'key', new.key, 'site', new.site, 'operation', new.operation, 'message', new.reason->>'message',
      -- Only what is documented: a stored problem has more, such as the whole value.
      'problems', (select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
          'field', problem->'field', 'message', problem->'message')) order by at), '[]')
        from jsonb_array_elements(case jsonb_typeof(new.reason->'problems') when 'array' then new.reason->'problems' end)
          with ordinality problems(problem, at))));
  end if;
  return null;
end
$$;

create trigger tell_rejected_new after insert on change
  for each row when (new.state = 'rejected') execute function tell_rejected();
create trigger tell_rejected_again after update of state, content_hash on change
  for each row when (new.state = 'rejected'
    and (old.state, old.content_hash) is distinct from (new.state, new.content_hash)) execute function tell_rejected();
