-- When a complete pull last read the feed, instead of being answered "not modified".
alter table feed_state add column read_at timestamptz;
