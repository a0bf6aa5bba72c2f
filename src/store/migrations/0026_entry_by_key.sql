-- The next entry of a group and the one before, by key: each is the first row of a range of this index.
create index review_entry_by_key on review_entry (group_id, discarded, coalesce(key, '') collate "C", id);
