-- Revisions go on from the time, in units of 10 microseconds, here and after each restore: what was seen of an entry with the same number
-- in another database, or before this one was restored, is never its present revision. They keep at most 15 digits until the year 2286.
select setval('revision_number',
  greatest(nextval('revision_number'), (extract(epoch from clock_timestamp()) * 100000)::bigint));
