-- The file was given together with settings that are being saved: it is read once the feed's file has the text with this SHA-256 (without
-- the secrets in it). Null: it is read.
alter table feed_upload add column awaits bytea;
