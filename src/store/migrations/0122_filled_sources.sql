-- The sources of the feed, or the files of one, that had records: deletes are held if one of them is empty. Null: only one is known.
alter table feed_state add column filled_sources text[];
