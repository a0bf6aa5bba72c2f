-- Adopting the jobs that a search of the site found is an action on many entries. It asks the site about each, so it may have to wait.

alter table bulk_action drop constraint bulk_action_action_check;
alter table bulk_action add constraint bulk_action_action_check
  check (action in ('edit', 'retry', 'discard', 'approve', 'reopen', 'missing', 'check', 'adopt'));

-- What it waits for, in words; null: nothing.
alter table bulk_action add column waits_for text;
-- No process goes on with it before that.
alter table bulk_action add column not_before timestamptz not null default '-infinity';
