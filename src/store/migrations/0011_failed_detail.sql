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
