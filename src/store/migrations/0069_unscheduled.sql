-- The process is configured with the feed, but with no schedule for it. Unless it ends, an older process does not set one again.
alter table process_feed add column unscheduled boolean not null default false;
