-- The postings that a pull created, for its page and for undoing it.
create index mapping_by_creator on mapping (feed, created_by, key) where created_by is not null;
