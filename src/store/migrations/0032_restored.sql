-- Feeds of a database that was restored from a backup: when it was restored. What was sent since the backup is not known.
alter table feed_state add column restored_at timestamptz;
