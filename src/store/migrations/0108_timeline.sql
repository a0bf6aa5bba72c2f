-- The server's timeline; null where it tells none: on a standby, and in services without one. A standby that is promoted, and a server
-- that is restored to a point in time, go on with a new one.
create function server_timeline() returns text language plpgsql stable as $$
begin
  return left(pg_walfile_name(pg_current_wal_lsn()), 8);
exception when others then
  return null;
end $$;

-- The timeline that the stamp was written on, or null. On another one, what the former server had stored last may be missing.
alter table data_stamp add column timeline text;
update data_stamp set timeline = server_timeline(), stamp = (txid_current() % 4294967296)::text where stamp = xmin::text;
