-- When a person last had the feed compared with its site by `recover`, and how many jobs, made between the backup that the database was
-- restored from and the restore, no posting had then.
alter table feed_state add column recovered_at timestamptz;
alter table feed_state add column strays integer not null default 0;
