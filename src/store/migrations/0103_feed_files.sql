-- The texts that the file of a feed has had, numbered from 1 for each feed: what was saved, and what was found there before it was replaced.
create table feed_file_version (
  feed text not null,
  version integer not null,
  at timestamptz not null default now(),
  -- Null: found in the file, written by hand.
  actor text,
  text text not null,
  primary key (feed, version)
);

-- Requests that all running processes read the configuration again.
create table reload (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  actor text not null
);

-- What became of the last change of the configuration in each process that takes changes over.
create table reload_report (
  host text not null,
  pid integer not null,
  -- When the process started: another one may get the same number.
  started_at timestamptz not null,
  command text not null,
  at timestamptz not null default now(),
  -- The last request that the process has seen; null: none yet.
  reload bigint,
  report jsonb not null,
  primary key (host, pid, started_at)
);
