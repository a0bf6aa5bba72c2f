-- The digest of an expired posting's content without its key: see src/store/change/rekey/digests.ts.
alter table posting_expiry add column bare text;
update posting_expiry set bare = content;
