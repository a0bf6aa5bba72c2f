-- Which postings the feed has, as configured at its last pull: a digest of the key, of the rule that skips records, and of how they are read.
-- Deletes are not approved under another rule before a pull has applied it.
alter table feed_state add column membership_rule text;
