-- What was done to one feed, and what one person did, newest first.
create index audit_by_feed on audit (feed, id desc) where feed is not null;
create index audit_by_actor on audit (actor, id desc);
