-- Records whose conditions on dates (newer_than, past …) have another outcome later, and those that such a condition skips. One row per
-- record of the last reading of its feed.
create table dated_record (
  feed text not null,
  -- As in mapping and skipped_record.
  record_hash bytea not null,
  -- When the record may become something else without being changed: the first pull afterwards reads it again. null: never.
  due_at timestamptz,
  -- The key of a record that is skipped because of a date, without a place; null: it is not skipped, or has none.
  skipped_key text,
  -- Since when it is skipped; null: since ever.
  skipped_since timestamptz,
  primary key (feed, record_hash)
);
create index dated_record_due on dated_record (feed, due_at) where due_at is not null;
create index dated_record_key on dated_record (feed, skipped_key) where skipped_key is not null;
