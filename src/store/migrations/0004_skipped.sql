-- Records that a rule of the configuration skips: they are not postings, and a pull that finds one again does not parse it.

alter table pull add column skipped integer not null default 0;

create table skipped_record (
  feed text not null,
  -- As in mapping: it matches only while records are read in the same way.
  record_hash bytea not null,
  primary key (feed, record_hash)
);
