-- One decision of a person for many review entries, done in batches. It survives the process that started it.

create table bulk_action (
  id bigint generated always as identity primary key,
  action text not null check (action in ('edit', 'retry', 'discard', 'approve', 'reopen')),
  actor text not null,
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
  skipped integer not null default 0
);
create index bulk_action_by_age on bulk_action (touched_at);

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

-- Another one whenever the record itself or a person's decision about it changes, but not if it only moves within the feed.
alter table record_problem add column revision bigint not null default nextval('revision_number');
