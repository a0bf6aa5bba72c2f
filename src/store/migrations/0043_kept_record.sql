-- The beginning of the record of each posting that a rule of the site rejects, for the person who reviews it. It belongs to the open
-- change with the same record hash, and is removed when there is none any more.
create table kept_record (
  feed text not null,
  key text not null,
  record_hash bytea not null,
  excerpt text not null,
  primary key (feed, key)
);
