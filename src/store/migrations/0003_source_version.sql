-- Validators of http sources become the version of any kind of source. Old validators are dropped, as they are bound to another
-- request digest: the next pull of each feed reads its source unconditionally. Some development versions already had the column.

alter table feed_state
  drop column if exists etag,
  drop column if exists last_modified,
  -- The version of its source in the last complete pull, bound to what was asked for. Only the kind of source that made it
  -- can read it. Null: the next pull reads the feed unconditionally.
  add column if not exists source_version text,
  drop column if exists validated_address,
  drop column if exists fingerprint;
