-- What people say about a group of review entries, and what they decided for its new entries as well.

create table group_note (
  id bigint generated always as identity primary key,
  group_id text not null,
  text text not null,
  actor text not null,
  at timestamptz not null default now()
);
create index group_note_by_group on group_note (group_id, id);

-- Deletes are never approved, and doubts never resolved, without a person who has seen them.
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

-- Null: a person selected the entries.
alter table bulk_action add column rule bigint references review_rule;
create index bulk_action_by_rule on bulk_action (rule) where rule is not null;
