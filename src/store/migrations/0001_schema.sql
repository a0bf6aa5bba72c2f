-- The state of one installation: what the site has (mapping, document), what remains to be sent (change), and what happened
-- (failure, request, pull). The database is the source of truth; the queue may be lost at any time.

create table installation (
  id text not null,
  -- Where the database was last used: in another place it was restored, and may know less than the site.
  place text,
  -- When any process last removed old rows, so that not every command does it.
  retention_at timestamptz
);
create unique index installation_single on installation ((true));
insert into installation (id) values (replace(gen_random_uuid()::text, '-', ''));

-- Numbers of review entries, unique across tables.
create sequence entry_number;

-- Each desired state and each reviewer's action on it gets a new revision; an outcome counts only for the sent revision.
create sequence revision_number;

-- Numbers of sending processes; each holds a lock under its number while it lives.
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
  -- Postings and records that were discarded when the pull ended, so the site differs from the feed.
  discarded integer not null default 0,
  gone integer not null default 0,
  grace integer not null default 0,
  bytes bigint not null default 0,
  duration_ms integer,
  -- What the pull had left open when a later one took its feed over, so that its counts still add up (law 2).
  taken_over_by bigint,
  left_open jsonb
);
create index pull_by_feed on pull (feed, id desc);
create index pull_by_age on pull (started_at);
-- Each pull ends the pulls of its feed that a dead process left running, without scanning tens of thousands of others.
create index pull_running on pull (feed) where status = 'running';
-- The last complete pull of a feed, however many incomplete ones followed.
create index pull_complete on pull (feed, id desc) where complete;

-- Outcomes counted towards the feed's current pull. Several rows per count, so that workers do not block each other.
create table outcome_count (
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
  -- Validators belong to the address that sent them, possibly after redirects.
  validated_address text,
  fingerprint text,
  -- How the keys of the feed's live jobs were derived. Once keys are derived differently, an unreadable record does not
  -- count as a new posting.
  key_rule text,
  hold_reason text,
  hold_since timestamptz,
  -- When a person took the feed out of service; its jobs stay.
  retired_at timestamptz,
  -- Before the first create of a feed, the site's list is searched for jobs with its references. Creates wait for it.
  site_checked_at timestamptz,
  -- Progress of the search, why it failed, or what a person should know about it.
  site_check_note text,
  site_check_failed_at timestamptz,
  -- A person said that the site has none of the feed's jobs: creates are not compared with jobs seen in other readings.
  site_declared boolean not null default false
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
-- Laws 1 and 4: a site job belongs to one posting.
create unique index mapping_site_job on mapping (site, site_job_id);

-- The fields that the site last accepted. JSON text is stored and read unchanged.
create table document (
  feed text not null,
  key text not null,
  fields json not null,
  primary key (feed, key)
);

create table change (
  id bigint not null default nextval('entry_number'),
  feed text not null,
  key text not null,
  site text not null,
  desired text not null check (desired in ('present', 'absent')),
  operation text not null check (operation in ('create', 'update', 'delete')),
  fields json,
  record_hash bytea,
  content_hash bytea,
  invalid boolean not null default false,
  -- The posting is missing but within its grace: its change waits, and it counts as missing, not as seen.
  gone boolean not null default false,
  -- The last pull was incomplete and did not see the posting: it counts towards no pull until one sees it.
  unseen boolean not null default false,
  revision bigint not null default nextval('revision_number'),
  pull bigint,
  state text not null check (state in ('ready', 'sending', 'in_doubt', 'held', 'rejected', 'failed', 'discarded')),
  -- The state of the change once no attempt is open.
  target_state text not null default 'ready' check (target_state in ('ready', 'held', 'rejected')),
  -- The former state of a discarded change, which reopening restores.
  discarded_from text check (discarded_from in ('rejected', 'failed', 'held')),
  approved boolean not null default false,
  since timestamptz not null default now(),
  attempts integer not null default 0,
  not_before timestamptz not null default '-infinity',
  reason jsonb,
  -- The attempt in flight or in doubt. The sent_ columns are set only if a newer desired state replaced what was sent.
  attempt_token uuid,
  attempt_operation text check (attempt_operation in ('create', 'update', 'delete')),
  attempt_started timestamptz,
  attempt_worker integer,
  sent_fields json,
  sent_record_hash bytea,
  sent_content_hash bytea,
  sent_revision bigint,
  list_checks smallint not null default 0,
  -- Complete pulls in a row that missed the posting while its create is in flight or in doubt: no mapping counts them yet.
  missing_pulls smallint not null default 0,
  -- A site job that seems to belong to a create that was never sent: a person decides whether it does.
  found_job_id text,
  primary key (feed, key),
  check ((desired = 'present') = (fields is not null)),
  check ((state in ('sending', 'in_doubt')) = (attempt_token is not null))
) with (fillfactor = 80);
create unique index change_entry on change (id);
-- The order of the backlog: deletes before creates before updates, oldest first.
create index change_ready on change (feed, (case operation when 'delete' then 0 when 'create' then 1 else 2 end), id)
  where state = 'ready';
-- When the next delayed change is due. Most changes are not delayed and need no entry.
create index change_due on change (feed, not_before) where state = 'ready' and not_before > '-infinity';
create index change_waiting on change (site, state) where state <> 'ready';
create index change_unseen on change (feed) where unseen;
-- Each pull counts the deletes, which are few beside a large backlog of creates. Includes the key, so that this index is
-- never worse than the primary key for the change of one posting.
create index change_absent on change (feed, key) where desired = 'absent';

-- Updates and deletes whose outcome is unknown: the site's content for these postings is uncertain until it accepts a later
-- request, and an earlier one may still arrive.
create table uncertain_write (
  feed text not null,
  key text not null,
  -- The version that was sent. Until the request can no longer arrive, only that version may be sent again (law 5).
  revision bigint not null,
  -- The fields that may have been set; null if they are certain again, but an earlier request may still arrive.
  fields text[],
  until timestamptz not null,
  primary key (feed, key)
);

-- Recent automatic deletes, for the guard.
create table deletion (
  feed text not null,
  key text not null,
  deleted_at timestamptz not null default now()
);
create index deletion_by_feed on deletion (feed, deleted_at);

-- Records that could not become a posting, and conflicting duplicates: one review entry each.
create table record_problem (
  id bigint not null default nextval('entry_number') primary key,
  feed text not null,
  kind text not null check (kind in ('unreadable', 'duplicate')),
  record_hash bytea not null,
  key text,
  -- An unreadable record is recognised even if its bytes differ from pull to pull: by its key if it could be recovered,
  -- otherwise by its bytes, by their constant part (shape), or by what is wrong with it (fault).
  shape bytea,
  fault text,
  problems jsonb not null,
  excerpt text not null,
  since timestamptz not null default now(),
  first_pull bigint not null,
  -- How many records of the last pull that saw it the entry covers.
  records integer not null default 1,
  discarded boolean not null default false,
  unique (feed, kind, record_hash)
);

-- What was altered in a posting's fields while reading, for example characters removed that XML cannot carry.
create table posting_note (
  feed text not null,
  key text not null,
  notes jsonb not null,
  noted_at timestamptz not null default now(),
  primary key (feed, key)
);

-- A reviewer's edit of one field, applied as long as the feed's value stays the same.
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
  -- Where the jobs of the site were created: host and path, without the scheme. Null until a request was accepted.
  address text,
  -- The different address with which a process was configured; the site is paused since then.
  moved_to text,
  paused_since timestamptz,
  pause_cause text,
  not_before timestamptz not null default '-infinity',
  unreachable_streak integer not null default 0,
  misconfigured_streak integer not null default 0,
  last_message text,
  probes integer not null default 0,
  trust_gone_until timestamptz,
  resumed_at timestamptz,
  next_probe timestamptz,
  -- The rate that the site has taught by asking to wait, in requests per second over all processes; null: as configured.
  learnt_rate double precision,
  rate_changed_at timestamptz,
  -- Requests since the rate changed, and whether it has grown since the site last asked to wait.
  rate_turns integer not null default 0,
  rate_grown boolean not null default false,
  throttled_at timestamptz,
  -- When the next request may be sent, while a learnt rate is below the configured one.
  next_turn timestamptz not null default '-infinity'
);

-- Tokens that a site refuses, as digests that only this installation can compare. Processes with another token continue.
create table refused_token (
  site text not null,
  digest text not null,
  -- Null: the site accepts it again. The number of probes is kept for a while.
  refused_since timestamptz,
  cause text not null,
  -- The process that last saw the refusal: machine and process ID.
  noted_by text not null,
  probes integer not null default 0,
  next_probe timestamptz,
  changed_at timestamptz not null default now(),
  primary key (site, digest)
);

-- How a site rewrites the values of a field, learnt by comparing what was sent with what it shows.
create table value_rewrite (
  site text not null,
  field text not null,
  kind text not null,
  -- The length of a truncated or padded value, or the text that is added.
  detail text not null default '',
  -- How often it was observed, in powers of two up to a limit.
  seen integer not null,
  -- A person confirmed it by naming the job of a create in doubt: it counts even if the site has also shown values
  -- unchanged.
  taught boolean not null default false,
  primary key (site, field, kind, detail)
);

-- Site jobs that no mapping owned when the site's list was read, by the normalised form of their reference.
create table site_reference (
  site text not null,
  site_job_id text not null,
  reference text not null,
  -- The field that showed the reference. Creates are compared with it when they are claimed.
  field text,
  -- The reference as the site shows it.
  shown text,
  -- Titles recognise a job whose reference the site truncates, rewrites or omits.
  title text,
  -- The job belongs to a mapping, but shows a different reference than its posting.
  contradicts boolean not null default false,
  -- Found by a search rather than in a list that was read for another purpose.
  by_search boolean not null default true,
  read_at timestamptz,
  primary key (site, site_job_id)
);
create index site_reference_by_form on site_reference (site, reference);
create index site_reference_by_title on site_reference (site, title);

-- Site jobs that, as a person said, do not belong to a posting: the question is not asked again.
create table refuted_job (
  site text not null,
  site_job_id text not null,
  feed text not null,
  key text not null,
  primary key (feed, key, site, site_job_id)
);

-- Site jobs showing that this database knows less than the site: each triggers one search of the site.
create table site_sign (
  site text not null,
  site_job_id text not null,
  noted_at timestamptz not null default now(),
  -- Whether the site's creates wait for the search; false if a search for another sign has just ended.
  blocks boolean not null,
  -- When the search for it began.
  taken_at timestamptz,
  primary key (site, site_job_id)
);

-- A row that names the transaction that wrote it. Restoring the data writes it in a different transaction.
create table data_stamp (
  one boolean primary key default true check (one),
  stamp text not null
);
insert into data_stamp (stamp) values ((txid_current() % 4294967296)::text);

-- Every failed attempt, as sent and received, with the token removed.
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

-- Every request, in brief.
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

-- Site jobs that we created and no posting owns: to be deleted by their ID.
create table orphan_site_job (
  site text not null,
  site_job_id text not null,
  feed text not null,
  key text not null,
  noted_at timestamptz not null default now(),
  attempts integer not null default 0,
  not_before timestamptz not null default '-infinity',
  primary key (site, site_job_id)
);

-- Postings whose claim to a job ID ended because the site returned the ID for a later create. If one soon gets the ID back,
-- a person decides: the site takes both postings for one job.
create table ended_claim (
  site text not null,
  site_job_id text not null,
  feed text not null,
  key text not null,
  ended_at timestamptz not null default now(),
  primary key (site, site_job_id, feed, key)
);
create index ended_claim_by_age on ended_claim (ended_at);

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
create index audit_by_age on audit (at);

-- Processes that work on this database, each under the number of its lock, with their configuration.
create table process (
  worker integer primary key,
  command text not null,
  host text not null,
  pid integer not null,
  started_at timestamptz not null default clock_timestamp(),
  -- A digest of each configured feed and site, by a name like "feed acme".
  parts jsonb not null
);

create table process_feed (
  worker integer not null references process on delete cascade,
  feed text not null,
  site text not null,
  primary key (worker, feed)
);
create index process_feed_by_site on process_feed (site, feed);

-- When each feed is pulled next. A row stays while no process runs it, so that a due run is not lost.
create table feed_schedule (
  feed text primary key,
  pattern text not null,
  time_zone text not null,
  -- Digest of the feed's configuration: processes with a different configuration leave its runs alone.
  digest text not null,
  -- Start of the process that set this configuration: a newer process replaces it.
  set_at timestamptz not null,
  set_by integer not null,
  due_at timestamptz not null,
  -- The claimed run: when it was due and when it started. Due again if the process dies.
  run_due timestamptz,
  run_since timestamptz,
  run_by integer
);

-- Compresses wide values with lz4 if the server supports it, otherwise not at all: pglz would cost more than the disk space.
do $$
declare
  target record;
begin
  for target in values ('document', 'fields'), ('change', 'fields'), ('change', 'sent_fields') loop
    begin
      execute format('alter table %I alter column %I set compression lz4', target.column1, target.column2);
    exception when feature_not_supported then
      execute format('alter table %I alter column %I set storage external', target.column1, target.column2);
    end;
  end loop;
end
$$;
