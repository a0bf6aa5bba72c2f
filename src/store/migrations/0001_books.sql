-- The books of one installation: what the site has (mapping, document), what is still to be sent (change), and what
-- became of it (failure, request, pull). The database is the truth; the queue may be lost at any time.

create table installation (
  id text not null
);
create unique index installation_single on installation ((true));
insert into installation (id) values (replace(gen_random_uuid()::text, '-', ''));

-- Numbers of review entries, whatever table they stand in.
create sequence entry_number;

-- Each wish and each reviewer's act on it gets a new revision; a worker settles only the revision that it sent.
create sequence revision_number;

-- Numbers of the processes that send; each holds a lock under its number while it lives.
create sequence worker_number as integer cycle;

create table pull (
  id bigint generated always as identity primary key,
  feed text not null,
  site text not null,
  started_at timestamptz not null default now(),
  committed_at timestamptz,
  finished_at timestamptz,
  status text not null default 'running'
    check (status in ('running', 'mirrored', 'not_modified', 'incomplete', 'failed', 'pending', 'review')),
  complete boolean not null default false,
  shortfalls text[] not null default '{}',
  message text,
  seen integer not null default 0,
  unchanged integer not null default 0,
  duplicates integer not null default 0,
  unreadable integer not null default 0,
  gone integer not null default 0,
  grace integer not null default 0,
  bytes bigint not null default 0,
  duration_ms integer
);
create index pull_by_feed on pull (feed, id desc);

-- Outcomes counted towards the feed's current pull. Several rows a count, so that workers don't queue for one.
create table tally (
  pull bigint not null references pull on delete cascade,
  outcome text not null,
  shard smallint not null,
  n integer not null,
  primary key (pull, outcome, shard)
) with (fillfactor = 50);

create table feed_state (
  feed text primary key,
  site text not null,
  current_pull bigint references pull on delete set null,
  etag text,
  last_modified text,
  fingerprint text,
  hold_reason text,
  hold_since timestamptz
);

-- One compact row for each live site job.
create table mapping (
  feed text not null,
  key text not null,
  site text not null,
  site_job_id text not null,
  site_job_url text,
  record_hash bytea not null,
  content_hash bytea not null,
  missing_pulls smallint not null default 0,
  adopted boolean not null default false,
  mapped_at timestamptz not null default now(),
  primary key (feed, key)
) with (fillfactor = 90);
-- Law 1 and law 4: a site job belongs to one posting.
create unique index mapping_site_job on mapping (site, site_job_id);

-- What the site accepted last, field by field.
create table document (
  feed text not null,
  key text not null,
  fields jsonb not null,
  primary key (feed, key)
);

create table change (
  id bigint not null default nextval('entry_number'),
  feed text not null,
  key text not null,
  site text not null,
  wanted text not null check (wanted in ('present', 'absent')),
  operation text not null check (operation in ('create', 'update', 'delete')),
  fields jsonb,
  record_hash bytea,
  content_hash bytea,
  invalid boolean not null default false,
  -- A posting that is missing but still within its grace: its wish waits and counts as missing, not as seen.
  gone boolean not null default false,
  revision bigint not null default nextval('revision_number'),
  pull bigint,
  state text not null check (state in ('ready', 'sending', 'in_doubt', 'held', 'rejected', 'failed', 'discarded')),
  resting text not null default 'ready' check (resting in ('ready', 'held', 'rejected')),
  approved boolean not null default false,
  since timestamptz not null default now(),
  attempts integer not null default 0,
  not_before timestamptz not null default '-infinity',
  reason jsonb,
  -- The attempt in flight or in doubt. The sent_ columns are filled only where a newer wish replaced what was sent.
  attempt_token uuid,
  attempt_operation text check (attempt_operation in ('create', 'update', 'delete')),
  attempt_started timestamptz,
  attempt_worker integer,
  sent_fields jsonb,
  sent_record_hash bytea,
  sent_content_hash bytea,
  sent_revision bigint,
  looks smallint not null default 0,
  primary key (feed, key),
  check ((wanted = 'present') = (fields is not null)),
  check ((state in ('sending', 'in_doubt')) = (attempt_token is not null))
) with (fillfactor = 80);
create unique index change_entry on change (id);
-- The order of the backlog: deletes before creates before updates, oldest first.
create index change_ready on change (feed, (case operation when 'delete' then 0 when 'create' then 1 else 2 end), id)
  where state = 'ready';
-- When the next change that waits for its time is due.
create index change_due on change (feed, not_before) where state = 'ready';
create index change_waiting on change (site, state) where state <> 'ready';

-- Automatic deletes of late, for the guard.
create table deletion (
  feed text not null,
  key text not null,
  deleted_at timestamptz not null default now()
);
create index deletion_by_feed on deletion (feed, deleted_at);

-- Records that could not become a posting, and duplicates that conflict: one review entry each.
create table record_problem (
  id bigint not null default nextval('entry_number') primary key,
  feed text not null,
  kind text not null check (kind in ('unreadable', 'duplicate')),
  record_hash bytea not null,
  key text,
  problems jsonb not null,
  excerpt text not null,
  since timestamptz not null default now(),
  first_pull bigint not null,
  discarded boolean not null default false,
  unique (feed, kind, record_hash)
);

-- A reviewer's edit of one field: applied as long as the source still says what it said then.
create table override (
  feed text not null,
  key text not null,
  field text not null,
  source_value text,
  value text not null,
  edited_at timestamptz not null default now(),
  primary key (feed, key, field)
);

create table site_state (
  site text primary key,
  paused_since timestamptz,
  pause_cause text,
  not_before timestamptz not null default '-infinity',
  unreachable_streak integer not null default 0,
  misconfigured_streak integer not null default 0,
  last_message text,
  probes integer not null default 0,
  trust_gone_until timestamptz,
  resumed_at timestamptz,
  next_probe timestamptz
);

-- Every failed attempt, as it was sent and received, the token removed.
create table failure (
  id bigint generated always as identity primary key,
  feed text not null,
  key text not null,
  pull bigint,
  at timestamptz not null default now(),
  operation text not null,
  kind text not null,
  problems jsonb not null default '[]',
  request jsonb,
  response jsonb
);
create index failure_by_posting on failure (feed, key, id desc);
create index failure_by_age on failure (at);

-- Every request, in short.
create table request (
  id bigint generated always as identity primary key,
  feed text not null,
  key text not null,
  pull bigint,
  at timestamptz not null default now(),
  operation text not null,
  site_job_id text,
  fields text[],
  status smallint,
  outcome text not null,
  duration_ms integer not null
);
create index request_by_posting on request (feed, key, id desc);
create index request_by_age on request (at);

-- Site jobs that were made twice after all, or outlived their posting: to be deleted by their ID, which we know is ours.
create table stray (
  site text not null,
  site_job_id text not null,
  feed text not null,
  key text not null,
  noted_at timestamptz not null default now(),
  attempts integer not null default 0,
  not_before timestamptz not null default '-infinity',
  primary key (site, site_job_id)
);

-- Who did what in review.
create table audit (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  actor text not null,
  action text not null,
  feed text,
  key text,
  detail jsonb
);

-- Wide values are compressed fast where the server can, and not at all where it can't: pglz would cost more than the disk.
do $$
declare
  target record;
begin
  for target in values ('document', 'fields'), ('change', 'fields') loop
    begin
      execute format('alter table %I alter column %I set compression lz4', target.column1, target.column2);
    exception when feature_not_supported then
      execute format('alter table %I alter column %I set storage external', target.column1, target.column2);
    end;
  end loop;
end
$$;
