-- The file came back with a backup: whether a newer one was uploaded since that was made is not known, so no feed reads it.
alter table feed_upload add column of_backup boolean not null default false;
