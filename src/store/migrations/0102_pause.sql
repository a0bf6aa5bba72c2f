-- What people have paused: everything (neither column), a site or a feed. Nothing of it is sent until the pause is ended, or until its time.
-- Independent of the pauses that the program itself records in `site_state`.
create table pause (
  id bigint generated always as identity primary key,
  site text,
  feed text,
  since timestamptz not null default now(),
  -- null: until a person ends it
  until timestamptz,
  actor text not null,
  reason text,
  -- The source is not read either.
  stops_pulls boolean not null,
  check (site is null or feed is null)
);
create unique index pause_of on pause (coalesce(site, ''), coalesce(feed, ''));

-- Always empty. Each statement that decides to send reads it, and a pause locks it: Postgres takes the lock of a table before the
-- snapshot of the statement, so each such statement has either committed before the pause does, or sees the pause.
create table send_gate ();
