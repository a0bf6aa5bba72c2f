-- A text is recorded before the file is replaced by it. False: whether the file was replaced is not known, as the process may have ended in
-- between. Then its addresses count as well as those of the last one that is settled.
alter table feed_file_version add column settled boolean not null default true;

-- The files that were uploaded as the source of a feed, numbered from 1 for each feed. The one with the largest number is what the feed reads.
create table feed_upload (
  feed text not null,
  version integer not null,
  at timestamptz not null default now(),
  actor text not null,
  -- As whoever uploaded it named it.
  name text not null,
  bytes integer not null,
  -- SHA-256 of the content.
  digest bytea not null,
  primary key (feed, version)
);

-- The content of an uploaded file, compressed as a whole with gzip, in parts that are read one after the other.
create table feed_upload_part (
  feed text not null,
  version integer not null,
  part integer not null,
  content bytea not null,
  primary key (feed, version, part)
);
-- It is compressed already.
alter table feed_upload_part alter column content set storage external;
