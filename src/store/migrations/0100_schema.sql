-- The state of one installation: what the site has (mapping, document), what remains to be sent (change), and what happened
-- (failure, request, pull). The database is the source of truth; the queue may be lost at any time.
-- Columns of the type `json` keep their text unchanged. Messages for people name what can be done about them as data, not as commands: a
-- JSON text, or an object with a text and its advice.

-- The installation and its processes ------------------------------------------------------------------------------------------------

create table installation (
  id text not null,
  -- Where the database was last used: in another place it was restored, and may know less than the site.
  place text,
  -- When any process last removed old rows, so that not every command does it.
  retention_at timestamptz
);
create unique index installation_single on installation ((true));
insert into installation (id) values (replace(gen_random_uuid()::text, '-', ''));

-- A row that names the transaction that wrote it. Restoring the data writes it in a different transaction.
create table data_stamp (
  one boolean primary key default true check (one),
  stamp text not null
);
insert into data_stamp (stamp) values ((txid_current() % 4294967296)::text);

-- Numbers of sending processes; each holds a lock under its number while it lives.
create sequence worker_number as integer cycle;

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
  -- The process is configured with the feed, but with no schedule for it. Unless it ends, an older process does not set one again.
  unscheduled boolean not null default false,
  primary key (worker, feed)
);
create index process_feed_by_site on process_feed (site, feed);

-- Feeds and their pulls --------------------------------------------------------------------------------------------------------------

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
  -- Lists of messages: why the feed is not proven complete, and what a person should know about the pull.
  shortfalls jsonb not null default '[]',
  notes jsonb not null default '[]',
  -- Why the completeness of the pull's feed is proven only weakly, for people; null: it is proven by the source, or not at all.
  weak text,
  seen integer not null default 0,
  unchanged integer not null default 0,
  duplicates integer not null default 0,
  unreadable integer not null default 0,
  -- Postings and records that were discarded when the pull ended, so the site differs from the feed.
  discarded integer not null default 0,
  gone integer not null default 0,
  grace integer not null default 0,
  -- Records that are no postings by a rule of the configuration, and among them those of expired postings.
  skipped integer not null default 0,
  expired integer not null default 0,
  -- How many creates of this pull had the content of postings that it found gone, and were sent.
  rekeyed integer not null default 0,
  bytes bigint not null default 0,
  duration_ms integer,
  -- What the pull had left open when a later one took its feed over, so that its counts still add up (law 2).
  taken_over_by bigint,
  left_open jsonb,
  -- What it changed is recorded completely and still kept.
  undoable boolean not null default false,
  -- This row is the undo of that pull.
  undoes bigint
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

-- The state of each feed between pulls.
create table feed_state (
  feed text primary key,
  site text not null,
  current_pull bigint references pull on delete set null,
  -- The version of its source in the last complete pull, bound to what was asked for. Only the kind of source that made it
  -- can read it. Null: the next pull reads the feed unconditionally.
  source_version text,
  -- How the keys of the feed's live jobs were derived. Once keys are derived differently, an unreadable record does not
  -- count as a new posting.
  key_rule text,
  -- Which postings the feed has, as configured at its last pull: a digest of the key, of the rule that skips records, and of how
  -- they are read. Deletes are not approved under another rule before a pull has applied it.
  membership_rule text,
  -- The fields that the feed sets only on create, as of its last pull; null: none. Processes that are not configured with the feed
  -- send its changes too.
  create_only_fields text[],
  -- What the feed may do to jobs that exist (`policy`), as of its last pull; null: `mirror`, or no pull has recorded it. A person may
  -- decide about its changes in a process that is not configured with the feed.
  policy text,
  -- Likely mistakes of the feed's mapping, found when all of its records were last read: a list of texts.
  warnings jsonb not null default '[]',
  -- The answers of the last weakly proven pull that counted postings as missing: a cache may repeat them. Null if none is missing,
  -- or if the feed is proven otherwise.
  weak_answer jsonb,
  weak_at timestamptz,
  -- When a person took the feed out of service; its jobs stay.
  retired_at timestamptz,
  -- The undo since which the feed is not pulled, so that its source does not bring back what was undone; a person resumes it.
  stopped_at timestamptz,
  stopped_by bigint,
  -- Before the first create of a feed, the site's list is searched for jobs with its references. Creates wait for it.
  site_checked_at timestamptz,
  -- Progress of the search, why it failed, or what a person should know about it.
  site_check_note jsonb,
  site_check_failed_at timestamptz,
  -- A person said that the site has none of the feed's jobs: creates are not compared with jobs seen in other readings.
  site_declared boolean not null default false,
  -- When the database was restored from a backup; what was sent since the backup is not known.
  restored_at timestamptz,
  -- When a person last had the feed compared with its site by `recover`, and how many jobs, made between the backup and the restore,
  -- no posting had then.
  recovered_at timestamptz,
  strays integer not null default 0,
  -- Since when the feed's keys seem to have changed: until a person decides, nothing is created for it. Null: they do not.
  rekey_since timestamptz,
  -- What a person should know about it.
  rekey_note jsonb,
  -- What the question is about: all creates and deletes of the feed, or only the postings of rekey_posting.
  rekey_all boolean not null default true,
  -- Creates with an entry number up to this one, and second jobs that are older than this, belong to new postings, as a person said.
  rekey_denied bigint not null default 0,
  rekey_denied_at timestamptz,
  -- Another number whenever a pull has found other postings: see rekey_survey.
  rekey_set bigint not null default 0
);

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

-- When each feed is verified next, who does it, and what the last run found.
create table feed_verify (
  feed text primary key,
  -- As a process was configured; null: only people have verified the feed.
  pattern text,
  time_zone text,
  due_at timestamptz not null default 'infinity',
  -- The worker number of the process that verifies it now.
  run_by integer,
  -- Of a run that is to be continued: the last posting that was compared, and what was found until then.
  after_key text,
  so_far jsonb,
  ended_at timestamptz,
  result jsonb
);

-- What the site has of each posting --------------------------------------------------------------------------------------------------

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
  -- The pull whose create made the job; null for an adopted or imported job, and for jobs from before this was recorded.
  created_by bigint,
  -- The site has answered that it created the job, and has not shown it since, nor accepted an update of it: whoever denies such a job
  -- may only not show it.
  never_shown boolean not null default false,
  primary key (feed, key)
) with (fillfactor = 90);
-- Laws 1 and 4: a site job belongs to one posting.
create unique index mapping_site_job on mapping (site, site_job_id);
-- Finds a job by its number if its mapping has it under an ID with its title, such as 12-nurse. The condition is that of `numberOfTitled`.
create index mapping_by_number on mapping (site, (substring(site_job_id from '^([0-9]+)-[a-z]')))
  where substring(site_job_id from '^([0-9]+)-[a-z]') is not null;
-- The postings that a pull created, for its page and for undoing it.
create index mapping_by_creator on mapping (feed, created_by, key) where created_by is not null;
-- Which jobs of a feed have been on the site for long (expire_after_days): each pull asks, also of a feed that is unchanged.
create index mapping_by_age on mapping (feed, mapped_at);

-- The fields that the site last accepted.
create table document (
  feed text not null,
  key text not null,
  fields json not null,
  -- What the site showed of each field after our last accepted write of it, if not what was sent: see `src/plan/shown-forms.ts`; null:
  -- nothing is known, as of jobs that were written before this column existed.
  shown bytea,
  primary key (feed, key)
);

-- What the site had of a posting before a pull changed or deleted its job, for undoing the pull. Creates need no row:
-- mapping.created_by names the pull.
create table former_document (
  id bigint generated always as identity primary key,
  feed text not null,
  key text not null,
  pull bigint not null,
  at timestamptz not null default now(),
  -- The fields that the request changed, null for one that the job did not have; all fields if `whole`. Null: not known.
  fields json,
  -- The job was deleted, or found to be gone: `fields` are all that it had.
  whole boolean not null,
  -- A person has edited the posting after the pull: it has changed since, so that undoing the pull leaves it out. `fields` is null.
  edited boolean not null default false
);
create index former_document_by_pull on former_document (feed, pull, key);
create index former_document_by_age on former_document (at);

-- Recent automatic deletes, for the guard.
create table deletion (
  feed text not null,
  key text not null,
  deleted_at timestamptz not null default now()
);
create index deletion_by_feed on deletion (feed, deleted_at);

-- Postings whose job ends after a number of days although the feed still has them (expire_after_days). One row per posting that expired,
-- as long as its feed has it, or whose time a person has started anew.
create table posting_expiry (
  feed text not null,
  key text not null,
  -- When its job was due to be deleted; null: it has not expired since its time was started anew.
  expired_at timestamptz,
  -- When a person, or the undo of a pull, started its time anew.
  renewed_at timestamptz,
  -- The job that it had when it expired.
  site_job_id text,
  -- The record with which it was last seen, so that the next pull need not parse it.
  record_hash bytea,
  -- Complete pulls in a row that did not see it.
  missing_pulls smallint not null default 0,
  -- By what it is recognised under another key: digests of what its job had, as in rekey_posting. `bare`: the digest of the content
  -- without its key, see src/store/change/rekey/digests.ts.
  content text,
  likeness text,
  bare text,
  primary key (feed, key),
  check ((expired_at is null) <> (renewed_at is null))
);
-- Whether expired postings are missing, within their grace.
create index posting_expiry_missing on posting_expiry (feed) where missing_pulls > 0;

-- What remains to be sent ------------------------------------------------------------------------------------------------------------

-- Numbers of review entries, unique across tables.
create sequence entry_number;

-- Each desired state and each reviewer's action on it gets a new revision; an outcome counts only for the sent revision.
create sequence revision_number;

-- The backlog and the dead letters: one row per posting that differs from the site.
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
  sent_pull bigint,
  list_checks smallint not null default 0,
  -- When the create was first sent that a list has since shown as not made; null: no list has. If the site refuses the token when it is
  -- sent again, that list may have been read without the rights of the token, and the create is in doubt again.
  doubted_since timestamptz,
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
-- Monitoring counts the changes in each state and finds the oldest without reading the wide rows.
create index change_by_state on change (site, state, feed, since) where state <> 'ready';
-- The sums of a pull count the changes that are not simply to be sent without reading their wide rows. Those that wait to be sent, or
-- are being sent, are counted by other indexes, so that sending a create or update writes no entry here.
create index change_counted on change (feed, state, desired, gone, unseen)
  where state not in ('ready', 'sending') or desired = 'absent' or gone or unseen;
create index change_unseen on change (feed) where unseen;
-- Each pull counts the deletes, which are few beside a large backlog of creates. Includes the key, so that this index is
-- never worse than the primary key for the change of one posting.
create index change_absent on change (feed, key) where desired = 'absent';
-- Postings that a site refused without saying what is wrong with them, while it may refuse every posting so: there are few, and each
-- such refusal asks for them.
create index change_set_up on change (site) where reason->>'kind' = 'set_up';

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

-- What was sent and done -------------------------------------------------------------------------------------------------------------

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
-- For which posting a job was deleted.
create index request_by_deleted_job on request (site_job_id) where operation = 'delete';
create index request_by_deleted_number on request ((substring(site_job_id from '^([0-9]+)-[a-z]'))) where operation = 'delete';

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
-- What was done to one posting, to one feed, and by one person, newest first.
create index audit_by_posting on audit (feed, key, id desc) where key is not null;
create index audit_by_feed on audit (feed, id desc) where feed is not null;
create index audit_by_actor on audit (actor, id desc);

-- What is remembered of records between pulls ----------------------------------------------------------------------------------------

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
  -- Where the record is in its feed, so that whoever makes the feed finds it: 1 is the first record. Null: no pull has seen it since
  -- this is recorded, or the entry stands for records without an entry of their own.
  record_number integer,
  -- Another one whenever the record itself or a person's decision about it changes, but not if it only moves within the feed.
  revision bigint not null default nextval('revision_number'),
  discarded boolean not null default false,
  unique (feed, kind, record_hash)
);
create index record_problem_open on record_problem (feed, kind) where not discarded;
-- What the overview counts of discarded records.
create index record_problem_discarded on record_problem (feed) include (records) where discarded and kind <> 'duplicate';

-- What was altered in a posting's fields while reading, for example characters removed that XML cannot carry.
create table posting_note (
  feed text not null,
  key text not null,
  notes jsonb not null,
  noted_at timestamptz not null default now(),
  primary key (feed, key)
);

-- The beginning of the record of each posting that a rule of the site rejects, for the person who reviews it. It belongs to the open
-- change with the same record hash, and is removed when there is none any more.
create table kept_record (
  feed text not null,
  key text not null,
  record_hash bytea not null,
  excerpt text not null,
  primary key (feed, key)
);

-- Records that a rule of the configuration skips: they are not postings, and a pull that finds one again does not parse it.
create table skipped_record (
  feed text not null,
  -- As in mapping: it matches only while records are read in the same way.
  record_hash bytea not null,
  primary key (feed, record_hash)
);

-- Records whose conditions on dates (newer_than, past …) have another outcome later, and those that such a condition skips. One row per
-- record of the last reading of its feed.
create table dated_record (
  feed text not null,
  -- As in mapping and skipped_record.
  record_hash bytea not null,
  -- When the record may become something else without being changed: the first pull afterwards reads it again. null: never.
  due_at timestamptz,
  -- The key of a record that is skipped because of a date, without a place; null: it is not skipped, or has none.
  skipped_key text,
  -- Since when it is skipped; null: since ever.
  skipped_since timestamptz,
  primary key (feed, record_hash)
);
create index dated_record_due on dated_record (feed, due_at) where due_at is not null;
create index dated_record_key on dated_record (feed, skipped_key) where skipped_key is not null;

-- The details of postings whose lists lack a part of them, so that none is requested twice. They stay while the list has their records,
-- also those of records that are skipped because of them.
create table detail (
  feed text not null,
  -- Hash of the record in the list, without what says nothing about the detail, and of how its detail is requested.
  list_hash bytea not null,
  -- The hash of all bytes of the record in the list.
  record_hash bytea not null,
  key text not null,
  -- UTF-8, gzip.
  body bytea not null,
  fetched_at timestamptz not null default now(),
  -- When a complete pull no longer found the record in the list; null: it has it.
  unlisted_at timestamptz,
  -- It was requested again and differs from the former one, until a pull that planned it is committed.
  unplanned boolean not null default false,
  primary key (feed, list_hash)
);
create index detail_by_key on detail (feed, key);
create index detail_by_record on detail (feed, record_hash);
create index detail_unplanned on detail (feed) where unplanned;

-- Details that a source does not have, so that they are requested less and less often.
create table failed_detail (
  feed text not null,
  -- As in detail.
  list_hash bytea not null,
  -- How its records are read: a detail that failed may be read in another way.
  interpretation bytea not null,
  message text not null,
  -- The beginning of what was received, if anything was.
  excerpt bytea,
  -- The first of the failures in a row, and the last one.
  since timestamptz not null default now(),
  tried_at timestamptz not null default now(),
  primary key (feed, list_hash)
);

-- Sites, and their jobs that no posting owns -----------------------------------------------------------------------------------------

create table site_state (
  site text primary key,
  -- Where the jobs of the site were created: host and path, without the scheme. Null until a request was accepted.
  address text,
  -- The different address with which a process was configured; the site is paused since then.
  moved_to text,
  paused_since timestamptz,
  pause_cause jsonb,
  -- Why the site was paused until a person decides, before it was paused because base_url leads to another address; null: it was not.
  former_pause jsonb,
  not_before timestamptz not null default '-infinity',
  unreachable_streak integer not null default 0,
  misconfigured_streak integer not null default 0,
  last_message jsonb,
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
  next_turn timestamptz not null default '-infinity',
  -- Whether the site keeps the reference that creates send, as its jobs showed. It is known of this field at this address only.
  reference_field text,
  reference_address text,
  -- When a job showed a reference first, and when a job that was sent one first showed everything else, but none.
  reference_shown_at timestamptz,
  reference_missing_at timestamptz,
  reference_missing_job text,
  -- Whether the site shows jobs right after it created them, as samples tell: when one was shown; one that was not, which counts as
  -- hidden once the site has shown any job of ours; and since when it does.
  new_shown_at timestamptz,
  new_hidden_job text,
  hides_new_since timestamptz
);

-- Tokens by which requests were accepted or refused, as digests that only this installation can compare: when, and whether the site is
-- paused for their holders. What is read with a token proves that a job does not exist only if the site accepts the token: many sites
-- show a part of their jobs to everybody.
create table refused_token (
  site text not null,
  digest text not null,
  -- Null: the site accepts it again. The number of probes is kept for a while. Processes with another token continue.
  refused_since timestamptz,
  cause text,
  -- The process that last saw the refusal: machine and process ID.
  noted_by text,
  probes integer not null default 0,
  next_probe timestamptz,
  changed_at timestamptz not null default now(),
  -- When the site last answered 401 to the token, and when the newest write was sent that it accepted with it.
  refused_at timestamptz,
  accepted_at timestamptz,
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
  -- The job belongs to a mapping, but shows a different reference than its posting.
  contradicts boolean not null default false,
  -- Found by a search rather than in a list that was read for another purpose.
  by_search boolean not null default true,
  -- When a reading of the list showed it first, and last.
  found_at timestamptz not null default now(),
  read_at timestamptz,
  -- What the list shows of the job, as far as a later create is compared with it: see `src/plan/adopt`. The values of fields are stored
  -- as digests.
  features text,
  -- Digests of values in which a posting and its job agree at least once; jobs are found by them.
  blocks bigint[] not null default '{}',
  -- The job's text holds the token, so that its values were not compared.
  secret boolean not null default false,
  -- The list shows that the job may be another user's.
  foreign_owner boolean not null default false,
  primary key (site, site_job_id)
);
create index site_reference_by_form on site_reference (site, reference);
create index site_reference_by_block on site_reference using gin (blocks) with (fastupdate = off);
create index site_reference_secret on site_reference (site) where secret;

-- Site jobs that, as a person said, do not belong to a posting: the question is not asked again.
create table refuted_job (
  site text not null,
  -- Empty: all jobs that were known at that time.
  site_job_id text not null,
  feed text not null,
  key text not null,
  at timestamptz not null default now(),
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

-- Matching a feed's postings with jobs that exist ------------------------------------------------------------------------------------

-- The last time that a feed's postings were matched with the site's jobs on a page or through the API.
create table adopt_run (
  feed text primary key,
  -- One more with each run of the feed.
  run integer not null default 1,
  site text not null,
  actor text not null,
  -- What was asked for: to match, to adopt all certain matches as they were shown, or to adopt named jobs.
  asked text not null check (asked in ('match', 'sure', 'named')),
  state text not null default 'running' check (state in ('running', 'done', 'failed', 'interrupted')),
  -- The process that runs it. If that is dead and the state is still "running", the run was interrupted.
  worker integer not null,
  started_at timestamptz not null default now(),
  ended_at timestamptz,
  progress text,
  -- Why it failed.
  message text,
  adopted integer not null default 0,
  -- What was accepted and not adopted: how many, and some of them with the reason.
  refused integer not null default 0,
  refusals jsonb not null default '[]',
  -- What follows is about the proposals. Empty before the first ones.
  matched_at timestamptz,
  matched_site text,
  -- The version of the feed's source that the matching read; null if it has none.
  feed_version text,
  -- What a person should know about them.
  notes jsonb not null default '[]',
  sure integer not null default 0,
  unsure integer not null default 0,
  unmatched integer not null default 0,
  -- Jobs of the site that no posting has or resembles.
  other_jobs integer not null default 0,
  -- Another one if other matches are certain.
  mark text
);

-- What the matching found: one row for each posting that had no job.
create table adopt_proposal (
  feed text not null,
  -- Certain ones first, each kind in the order of the feed.
  n integer not null,
  key text not null,
  verdict text not null check (verdict in ('sure', 'unsure', 'unmatched')),
  reasons jsonb not null,
  title text,
  -- Jobs that resemble it, the best one first, with the fields that differ.
  candidates jsonb not null,
  -- Another one after each change of the posting.
  version text not null,
  -- The posting as the matching read it, so that a decision about one match does not read the whole feed again; null: a former version
  -- made the proposal.
  fields json,
  -- The record that it was read from.
  record_hash bytea,
  primary key (feed, n)
);
create index adopt_proposal_feed_verdict_n_idx on adopt_proposal (feed, verdict, n);
create index adopt_proposal_feed_key_idx on adopt_proposal (feed, key);

-- Feeds whose keys seem to have changed ----------------------------------------------------------------------------------------------

-- The postings of such a feed: those that are new, and those that are missing and have a job.
create table rekey_posting (
  feed text not null,
  is_new boolean not null,
  key text not null,
  -- Digest of the content without references and addresses.
  content text,
  -- Digest of title and place.
  likeness text,
  -- A complete pull found the posting; an incomplete one proves of no posting that it is missing.
  proven boolean not null,
  -- The create of the new posting waits, as the job of a posting with its content may be its own.
  waits boolean not null default false,
  -- The new posting already has this job, beside that of the missing posting with its content.
  second_job text,
  primary key (feed, is_new, key)
);
-- A decision about one pair reads the postings with its content, or its title and place.
create index rekey_posting_content on rekey_posting (feed, content);
create index rekey_posting_likeness on rekey_posting (feed, likeness);

-- The lines of a feed are those of this rekey_set, apart from what rekey_touched names.
create table rekey_survey (
  feed text primary key,
  rekey_set bigint not null
);

-- Which new posting may be which missing one, so that a page reads only its own lines: a pair, or a posting without one. While lines are
-- replaced, a posting may be in two of them.
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
  second_job text,
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
create index rekey_touched_feed_idx on rekey_touched (feed);

-- A pull that finds other postings has all of them compared again, also one of a process of a former version.
create function renew_rekey_set() returns trigger language plpgsql as $$
begin
  update feed_state set rekey_set = nextval('revision_number') where feed in (select feed from altered);
  return null;
end
$$;

create trigger rekey_posting_added after insert on rekey_posting referencing new table as altered for each statement
  execute function renew_rekey_set();

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

-- In one function, as each change that is sent calls it.
create function touch_rekey_posting() returns trigger language plpgsql as $$
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

-- Review entries ---------------------------------------------------------------------------------------------------------------------

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
  -- See entry_revision.
  revision bigint not null,
  -- Besides its state, some facts about a change decide what can be done about its review entry. They are written with the entry, and
  -- entries are counted by them, so that what an action offers is exactly what it acts on. See change_circumstances.
  circumstances text[] not null default '{}',
  -- Words of key, title, value and message, and those of the title once more after "=".
  words tsvector not null,
  -- See counted_part. Not a generated column: its expression would be planned anew by each statement that writes one row, which took a
  -- quarter of the time of writing an entry.
  part bigint not null
)
-- Counting reads the index alone where the table was vacuumed since the last change.
with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
create index review_entry_by_group on review_entry (group_id, id);
-- The next entry of a group and the one before, by key: each is the first row of a range of this index.
create index review_entry_by_key on review_entry (group_id, discarded, coalesce(key, '') collate "C", id);
-- Finds the oldest and the newest entry of a part, and counts entries by age without the wide rows.
create index review_entry_by_part on review_entry (part, since, id) include (revision, value);
-- Review page by page, oldest first: of all feeds, and of one.
create index review_entry_page on review_entry (discarded, kind, since, id);
create index review_entry_page_of_feed on review_entry (feed, discarded, kind, since, id);
-- The list of words that are not yet in order is read by each search, so it stays short.
create index review_entry_words on review_entry using gin (words) with (gin_pending_list_limit = 512);

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

-- Jobs are found by the beginnings of words of their title. "@" and the feed is one of the words.
create index document_words on document using gin ((array_to_tsvector(words_of(fields->>'title') || ('@' || feed))))
  with (gin_pending_list_limit = 512);

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

-- A create can be in doubt again with the same desired state, and its possible jobs change while it is in doubt: both are another
-- revision of its entry. At most 15 digits, like the revisions of the sequence.
create function entry_revision(state text, revision bigint, attempt_token uuid, found_job_id text, reason jsonb)
returns bigint language sql stable as $$
  select case when state <> 'in_doubt' then revision
    else hashtextextended(jsonb_build_array(
      revision, attempt_token, found_job_id, reason->'candidates', reason->'crowded')::text, 0) & 562949953421311 end
$$;

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

-- What entries are counted by, as one number: comparing texts takes most of the time of counting.
create function counted_part(discarded boolean, group_id text, kind text, feed text, site text, circumstances text[]) returns bigint
language sql immutable parallel safe as $$
  select hashtextextended(
    case when discarded then 'd ' else 'w ' end || group_id || ' ' || kind || ' ' || feed || ' ' || coalesce(site, '')
      || case when circumstances = '{}' then '' else ' ' || array_to_string(circumstances, ',') end, 0)
$$;

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

create function group_change() returns trigger language plpgsql as $$
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

create function group_record() returns trigger language plpgsql as $$
begin
  perform write_review_entry(
    new.id, new.kind, new.discarded, new.feed, new.key, null, null, jsonb_build_object('problems', new.problems), new.since,
    new.revision, '{}');
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

-- How many review entries there are, by group, feed, site and value, so that no page counts them one by one. Writers only append to
-- review_tally, so that none waits for another; fold_review_tally moves its rows into the totals. The numbers are the sums of both.
create table review_total (
  discarded boolean not null,
  group_id text not null,
  kind text not null,
  feed text not null,
  site text,
  circumstances text[] not null default '{}',
  n bigint not null,
  -- Sum of hashes of the entries and their revisions: another one if other entries are counted, or one of them has changed.
  mark numeric not null
);
create unique index review_total_key on review_total (group_id, discarded, kind, feed, coalesce(site, ''), circumstances);

create table review_value_total (
  discarded boolean not null,
  group_id text not null,
  kind text not null,
  feed text not null,
  site text,
  value text not null,
  n bigint not null
);
create unique index review_value_total_key on review_value_total (group_id, discarded, kind, feed, coalesce(site, ''), value);

create table review_tally (
  discarded boolean not null,
  group_id text not null,
  kind text not null,
  feed text not null,
  site text,
  circumstances text[] not null default '{}',
  value text,
  -- 1: an entry was added; -1: it was removed.
  n smallint not null,
  mark bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

create function tally_review_entry() returns trigger language plpgsql as $$
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

create trigger review_entry_tallied after insert or delete on review_entry for each row
  execute function tally_review_entry();
create trigger review_entry_tallied_again after update on review_entry for each row
  when ((old.discarded, old.group_id, old.kind, old.feed, old.site, old.circumstances, old.value, old.id, old.revision)
    is distinct from (new.discarded, new.group_id, new.kind, new.feed, new.site, new.circumstances, new.value, new.id, new.revision))
  execute function tally_review_entry();

create function fold_review_tally() returns void language plpgsql as $$
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

-- How many entries waited in each group, noted about once an hour and only when the number has changed.
create table review_group_count (
  group_id text not null,
  at timestamptz not null,
  n integer not null,
  primary key (group_id, at)
);

-- What people say about a group of review entries.
create table group_note (
  id bigint generated always as identity primary key,
  group_id text not null,
  text text not null,
  actor text not null,
  at timestamptz not null default now()
);
create index group_note_by_group on group_note (group_id, id);

-- What people decided about a group for its new entries as well. Deletes are never approved, and doubts never resolved, without a person
-- who has seen them.
create table review_rule (
  id bigint generated always as identity primary key,
  group_id text not null,
  -- Of the group, which may have no entries any more.
  kind text not null check (kind in ('rejected', 'failed', 'duplicate')),
  field text,
  message text not null,
  -- Null: entries of all feeds.
  feed text,
  action text not null check (action in ('edit', 'retry', 'discard')),
  -- The values of an edit, or the reason of a discard.
  detail jsonb not null,
  actor text not null,
  made_at timestamptz not null default now(),
  ended_at timestamptz,
  ended_by text
);
create index review_rule_in_force on review_rule (group_id) where ended_at is null;

-- The entries that a rule no longer decides: those that the group had before the rule, and those that it has taken.
create table rule_entry (
  rule bigint not null references review_rule on delete cascade,
  entry bigint not null,
  primary key (rule, entry)
);

-- One decision of a person for many review entries, done in batches. It survives the process that started it. Decisions about creates in
-- doubt are bound to the attempts and the possible jobs that a person saw.
create table bulk_action (
  id bigint generated always as identity primary key,
  action text not null check (action in ('edit', 'retry', 'discard', 'approve', 'reopen', 'missing', 'check', 'adopt')),
  actor text not null,
  -- Null: a person selected the entries.
  rule bigint references review_rule,
  -- What was selected, and the values of an edit or the reason of a discard.
  detail jsonb not null,
  state text not null default 'open' check (state in ('open', 'stopped', 'done')),
  started_at timestamptz not null default now(),
  -- The end of the last batch.
  touched_at timestamptz not null default now(),
  total integer not null default 0,
  done integer not null default 0,
  -- Of those done: edited, but still rejected.
  remaining integer not null default 0,
  skipped integer not null default 0,
  -- What it waits for, in words, such as the answer of a site; null: nothing.
  waits_for text,
  -- No process goes on with it before that.
  not_before timestamptz not null default '-infinity'
);
create index bulk_action_by_age on bulk_action (touched_at);
create index bulk_action_by_rule on bulk_action (rule) where rule is not null;

-- The entries that it has not reached yet, as they were when it was started, and those that it left alone.
create table bulk_entry (
  bulk bigint not null references bulk_action on delete cascade,
  feed text not null,
  entry bigint not null,
  group_id text not null,
  -- Of the change or record.
  revision bigint,
  -- Why it was left alone; null: not reached yet.
  skipped text,
  primary key (bulk, entry)
);
create index bulk_entry_open on bulk_entry (bulk, feed, entry) where skipped is null;

-- The number of live jobs -----------------------------------------------------------------------------------------------------------

-- How many live jobs each feed has, for display: as with review entries, writers append to mapping_tally, which is folded into
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

-- Alerts, and messages about postings ------------------------------------------------------------------------------------------------

-- What alert destinations were told is open, so that each change of state is told once, whichever process notices it.
create table open_alert (
  destination text not null,
  -- Such as paused or held.
  kind text not null,
  -- Such as "site board" or "feed acme".
  subject text not null,
  since timestamptz not null default now(),
  -- Who sees it: processes with one configuration are one evaluator, named by the key of the lock that one of them holds.
  evaluators text[] not null,
  -- When one of them last said so, within some minutes.
  seen_at timestamptz not null default now(),
  -- How many messages told it, when the last one did, and the fewest changes since then, for alerts that count some.
  messages integer not null default 1,
  told_at timestamptz not null default now(),
  count integer,
  primary key (destination, kind, subject)
);

-- Messages for destinations, written together with the state change that they tell: they are sent at least once, under one ID.
create table alert_message (
  seq bigint generated always as identity primary key,
  id text not null unique default 'msg_' || replace(gen_random_uuid()::text, '-', ''),
  destination text not null,
  -- Messages about postings may be very many: they are sent apart, so that they delay no alert.
  topic text not null default 'alert' check (topic in ('alert', 'posting')),
  payload jsonb not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'dead')),
  created_at timestamptz not null default now(),
  attempts integer not null default 0,
  -- When it is sent next; -infinity: at once, because a person asked for it.
  not_before timestamptz not null default now(),
  -- While it is being sent: when another process may send it, because this one died. Identifies the attempt.
  claimed_until timestamptz,
  last_error text,
  delivered_at timestamptz
);
create index alert_message_due on alert_message (topic, destination, not_before, seq) where state = 'pending';
create index alert_message_dead on alert_message (topic, destination, seq) where state = 'dead';
create index alert_message_by_age on alert_message (created_at);

-- Destinations that are told what became of postings. Triggers write the messages, so that each is part of the transaction that changes
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

-- Pages and API ----------------------------------------------------------------------------------------------------------------------

-- Who is signed in to the pages, by the digest of a secret that only the browser has.
create table web_session (
  digest bytea primary key,
  user_name text not null,
  -- Digest of the password hash at the time: another password ends the session.
  credential bytea not null,
  created_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);

-- Requests of the API with an Idempotency-Key, with their answers; kept for a day.
create table web_request (
  -- The token or user.
  who text not null,
  key text not null,
  request bytea not null,
  claimed_at timestamptz not null default now(),
  -- Null while the first request is being answered.
  status smallint,
  headers jsonb,
  body text,
  primary key (who, key)
);
create index web_request_by_age on web_request (claimed_at);

-- Storage ----------------------------------------------------------------------------------------------------------------------------

-- Compresses wide values with lz4 if the server supports it, otherwise not at all: pglz would cost more than the disk space.
do $$
declare
  target record;
begin
  for target in values ('document', 'fields'), ('change', 'fields'), ('change', 'sent_fields'), ('former_document', 'fields') loop
    begin
      execute format('alter table %I alter column %I set compression lz4', target.column1, target.column2);
    exception when feature_not_supported then
      execute format('alter table %I alter column %I set storage external', target.column1, target.column2);
    end;
  end loop;
end
$$;
