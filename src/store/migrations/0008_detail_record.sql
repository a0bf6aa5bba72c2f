-- The hash of all bytes of the record in the list. `list_hash` leaves out what says nothing about the detail.
alter table detail add column record_hash bytea;
