-- How many records each source of the feed, or file of one, had, apart from those without: deletes are held if one of them is empty. Null: only
-- one is known.
alter table feed_state add column filled_sources jsonb;
