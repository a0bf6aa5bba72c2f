-- Which jobs of a feed have been on the site for long (expire_after_days): each pull asks, also of a feed that is unchanged.
create index mapping_by_age on mapping (feed, mapped_at);
-- Whether expired postings are missing, within their grace.
create index posting_expiry_missing on posting_expiry (feed) where missing_pulls > 0;
