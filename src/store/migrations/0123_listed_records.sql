-- The records of the feed in their order, one hash after another, if it may list only its newest postings: a shorter list of the first of them may
-- be cut. Null: not known, or too many.
alter table feed_state add column listed_records bytea;
