-- The fields that the feed sets only on create, as of its last pull; null: none. Processes that are not configured with the feed send its
-- changes too.
alter table feed_state add column create_only_fields text[];
