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
  primary key (feed, n)
);
create index on adopt_proposal (feed, verdict, n);
create index on adopt_proposal (feed, key);
