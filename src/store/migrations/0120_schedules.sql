-- Processes that work on this database, each under the number whose lock shows that it lives, and what it is configured with.
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
  -- Of the feed's configuration: who has another one leaves the runs to those who have this one.
  digest text not null,
  -- When the process began whose configuration this is: a newer one changes it.
  set_at timestamptz not null,
  set_by integer not null,
  due_at timestamptz not null,
  -- The run that a process has taken: when it was due and since when it runs. Due again where that process has died.
  run_due timestamptz,
  run_since timestamptz,
  run_by integer
);
