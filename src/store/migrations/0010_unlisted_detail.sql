-- Details stay while the list has their records, also those of records that are skipped because of them.

update detail set record_hash = list_hash where record_hash is null;
alter table detail alter column record_hash set not null;
-- When a complete pull no longer found the record in the list; null: it has it.
alter table detail add column unlisted_at timestamptz;
create index detail_by_record on detail (feed, record_hash);

-- The details of records that were skipped because of them may be gone: these records are read again.
delete from skipped_record where feed in (select feed from detail);
update feed_state set source_version = null where feed in (select feed from detail);
