-- Why the completeness of the pull's feed is proven only weakly, for people; null: it is proven by the source, or not at all.
alter table pull add column weak text;
-- The answers of the last weakly proven pull that counted postings as missing: a cache may repeat them. Null if none is missing, or if the
-- feed is proven otherwise.
alter table feed_state add column weak_answer jsonb;
alter table feed_state add column weak_at timestamptz;
