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
