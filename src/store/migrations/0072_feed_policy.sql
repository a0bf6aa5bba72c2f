-- What the feed may do to jobs that exist (`policy`), as of its last pull; null: `mirror`, or no pull has recorded it. A person may decide
-- about its changes in a process that is not configured with the feed.
alter table feed_state add column policy text;
