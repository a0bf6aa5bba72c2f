-- The state of one installation: what the site has (mapping, document), what is still to be sent (change), and what became
-- of it (failure, request, pull). The database is the source of truth; the queue may be lost at any time.

create table installation (
  id text not null,
  -- Where the database was when it was used last: in another place it was restored, and may know less than the site.
  place text,
  -- When old rows were removed last, by whatever process, so that not every command does it.
  retention_at timestamptz
);
create unique index installation_single on installation ((true));
insert into installation (id) values (replace(gen_random_uuid()::text, '-', ''));

-- Numbers of review entries, in whatever table they are.
create sequence entry_number;

-- Each desired state and each reviewer's action on it gets a new revision; an outcome counts only for the revision that was sent.
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
  -- Postings and records that were discarded when the pull ended: the site does not have them as the feed does.
  discarded integer not null default 0,
  gone integer not null default 0,
  grace integer not null default 0,
  bytes bigint not null default 0,
  duration_ms integer,
  -- What the pull left open when a later one took its feed over, so that its counts still add up (law 2).
  taken_over_by bigint,
  left_open jsonb
);
create index pull_by_feed on pull (feed, id desc);
create index pull_by_age on pull (started_at);
-- Each pull ends those of its feed that a dead process left running; among tens of thousands of others.
create index pull_running on pull (feed) where status = 'running';
-- The last complete pull of a feed, however many incomplete ones came after it.
create index pull_complete on pull (feed, id desc) where complete;

-- Outcomes counted towards the feed's current pull. Several rows per count, so that workers don't wait for one.
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
  -- Validators belong to the address that sent them, which redirects may have led to.
  validated_address text,
  fingerprint text,
  -- How the keys of the feed's live jobs were read. A record that can't be read is not a new posting once keys are read
  -- in another way.
  key_rule text,
  hold_reason text,
  hold_since timestamptz,
  -- When a person took the feed out of service: its jobs stay.
  retired_at timestamptz,
  -- Before the first create of a feed, the site's list is searched for jobs with its references. No create is claimed before.
  site_checked_at timestamptz,
  -- How far the search is, why it failed, or what a person should know of it.
  site_check_note text,
  site_check_failed_at timestamptz,
  -- A person said that the site has none of the feed's jobs: creates are not compared with what lists happen to show.
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

-- What the site accepted last, field by field. JSON text is stored as it arrives and read as it was stored.
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
  -- A posting that is missing but still within its grace: its change waits, and the posting counts as missing, not as seen.
  gone boolean not null default false,
  -- The last pull, an incomplete one, did not see the posting: it counts towards none until one sees it.
  unseen boolean not null default false,
  revision bigint not null default nextval('revision_number'),
  pull bigint,
  state text not null check (state in ('ready', 'sending', 'in_doubt', 'held', 'rejected', 'failed', 'discarded')),
  -- The state of the change once nothing is in flight for it.
  target_state text not null default 'ready' check (target_state in ('ready', 'held', 'rejected')),
  -- The state that a discarded change was in, so that it can be reopened as that.
  discarded_from text check (discarded_from in ('rejected', 'failed', 'held')),
  approved boolean not null default false,
  since timestamptz not null default now(),
  attempts integer not null default 0,
  not_before timestamptz not null default '-infinity',
  reason jsonb,
  -- The attempt in flight or in doubt. The sent_ columns are filled only where a newer desired state replaced what was sent.
  attempt_token uuid,
  attempt_operation text check (attempt_operation in ('create', 'update', 'delete')),
  attempt_started timestamptz,
  attempt_worker integer,
  sent_fields json,
  sent_record_hash bytea,
  sent_content_hash bytea,
  sent_revision bigint,
  list_checks smallint not null default 0,
  -- Complete pulls in a row without the posting, while its create is in flight or in doubt: no mapping can count them yet.
  missing_pulls smallint not null default 0,
  -- The site job that seems to be the one of a create that was never sent: a person says whether it is.
  found_job_id text,
  primary key (feed, key),
  check ((desired = 'present') = (fields is not null)),
  check ((state in ('sending', 'in_doubt')) = (attempt_token is not null))
) with (fillfactor = 80);
create unique index change_entry on change (id);
-- The order of the backlog: deletes before creates before updates, oldest first.
create index change_ready on change (feed, (case operation when 'delete' then 0 when 'create' then 1 else 2 end), id)
  where state = 'ready';
-- When the next change that waits for its time is due. Most changes wait for none and need no entry.
create index change_due on change (feed, not_before) where state = 'ready' and not_before > '-infinity';
create index change_waiting on change (site, state) where state <> 'ready';
create index change_unseen on change (feed) where unseen;
-- Deletes are counted with each pull, and are few beside a large backlog of creates. With the key, so that this index is
-- never worse than the primary key for the change of one posting.
create index change_absent on change (feed, key) where desired = 'absent';

-- Updates and deletes whose outcome is unknown: what the site has for these postings is not certain until a later request
-- is accepted, and an earlier one may still arrive.
create table uncertain_write (
  feed text not null,
  key text not null,
  -- The version that was sent. Until the request can't arrive any more, only that version may be sent again (law 5).
  revision bigint not null,
  -- The fields that may have been set; null: they are certain again, but an earlier request may still arrive.
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

-- Records that could not become a posting, and duplicates that conflict: one review entry each.
create table record_problem (
  id bigint not null default nextval('entry_number') primary key,
  feed text not null,
  kind text not null check (kind in ('unreadable', 'duplicate')),
  record_hash bytea not null,
  key text,
  -- An unreadable record is recognised although its bytes differ from pull to pull: by its key where that could be
  -- recovered, otherwise by its bytes, by the part of them that does not change (shape), or by what is wrong with it (fault).
  shape bytea,
  fault text,
  problems jsonb not null,
  excerpt text not null,
  since timestamptz not null default now(),
  first_pull bigint not null,
  -- How many records the entry stands for, of the last pull that saw it.
  records integer not null default 1,
  discarded boolean not null default false,
  unique (feed, kind, record_hash)
);

-- What was changed in a posting's fields on the way to the site, such as characters removed that XML can't carry.
create table posting_note (
  feed text not null,
  key text not null,
  notes jsonb not null,
  noted_at timestamptz not null default now(),
  primary key (feed, key)
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
  -- Where the jobs of the site were made: host and path, without the scheme. Null until a request was accepted.
  address text,
  -- The address that a process was configured with when it found that it is another one; the site is paused since.
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
  -- The rate that the site has taught by asking to wait, in requests per second over all processes; null: the configured one.
  learnt_rate double precision,
  rate_changed_at timestamptz,
  -- Requests since the rate changed, and whether it has grown since the site asked to wait.
  rate_turns integer not null default 0,
  rate_grown boolean not null default false,
  throttled_at timestamptz,
  -- When the next request may leave, while a learnt rate is below the configured one.
  next_turn timestamptz not null default '-infinity'
);

-- Tokens that a site refuses, as digests that only this installation can compare. Processes with another token go on.
create table refused_token (
  site text not null,
  digest text not null,
  -- Null: the site accepted it again. How often it was probed stays known for a while.
  refused_since timestamptz,
  cause text not null,
  -- The process that was refused last: machine and process number.
  noted_by text not null,
  probes integer not null default 0,
  next_probe timestamptz,
  changed_at timestamptz not null default now(),
  primary key (site, digest)
);

-- How a site rewrites the values of a field, as learnt from what it shows of the jobs that it was sent.
create table value_rewrite (
  site text not null,
  field text not null,
  kind text not null,
  -- The length of a cut or padded value, or the text that is added.
  detail text not null default '',
  -- How often it was observed, counted in powers of two up to a limit.
  seen integer not null,
  -- A person has confirmed it by naming the job of a create in doubt: it counts although the site has also shown values
  -- unchanged.
  taught boolean not null default false,
  primary key (site, field, kind, detail)
);

-- Jobs of the site that no mapping owned when its list was read, by the usual form of their reference.
create table site_reference (
  site text not null,
  site_job_id text not null,
  reference text not null,
  -- The field in which the site showed the reference. Creates are compared with it when they are claimed.
  field text,
  -- The reference as the site shows it.
  shown text,
  -- Titles recognise a job whose reference the site cuts, rewrites or leaves out.
  title text,
  -- The job belongs to a mapping whose posting has another reference.
  contradicts boolean not null default false,
  -- Found by a search, rather than in a list that was read for another purpose.
  by_search boolean not null default true,
  read_at timestamptz,
  primary key (site, site_job_id)
);
create index site_reference_by_form on site_reference (site, reference);
create index site_reference_by_title on site_reference (site, title);

-- Site jobs that a person said are not a posting's: the question is not asked again.
create table refuted_job (
  site text not null,
  site_job_id text not null,
  feed text not null,
  key text not null,
  primary key (feed, key, site, site_job_id)
);

-- Site jobs which show that this database knows less than the site: each causes one search of the site.
create table site_sign (
  site text not null,
  site_job_id text not null,
  noted_at timestamptz not null default now(),
  -- The site's creates wait for the search; false where a search for another sign has just ended.
  blocks boolean not null,
  -- When the search for it began.
  taken_at timestamptz,
  primary key (site, site_job_id)
);

-- A row that names the transaction that wrote it. A restore of the data writes it in another transaction.
create table data_stamp (
  one boolean primary key default true check (one),
  stamp text not null
);
insert into data_stamp (stamp) values ((txid_current() % 4294967296)::text);

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

-- Postings whose claim to a job ID has ended because the site answered a later create with it. A person decides about one
-- that soon gets the ID back: the site takes both postings for one job.
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

-- Processes that work on this database, each under the number whose lock shows that it lives, and their configuration.
create table process (
  worker integer primary key,
  command text not null,
  host text not null,
  pid integer not null,
  started_at timestamptz not null default clock_timestamp(),
  -- A digest of each configured feed and site, by a name such as "feed acme".
  parts jsonb not null
);

create table process_feed (
  worker integer not null references process on delete cascade,
  feed text not null,
  site text not null,
  primary key (worker, feed)
);
create index process_feed_by_site on process_feed (site, feed);

-- When each feed is pulled next. A row stays while nobody runs it, so that a run that came due meanwhile is not lost.
create table feed_schedule (
  feed text primary key,
  pattern text not null,
  time_zone text not null,
  -- Of the feed's configuration: a process with another configuration leaves the runs to those that have this one.
  digest text not null,
  -- When the process started whose configuration this is: a newer process replaces it.
  set_at timestamptz not null,
  set_by integer not null,
  due_at timestamptz not null,
  -- The run that a process has taken: when it was due and since when it runs. Due again where that process has died.
  run_due timestamptz,
  run_since timestamptz,
  run_by integer
);

-- Wide values are compressed fast where the server can, and not at all where it can't: pglz would cost more than the disk.
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
