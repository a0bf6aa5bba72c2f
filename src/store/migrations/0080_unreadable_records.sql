-- An unreadable record is recognised although its bytes differ from pull to pull: by its key if that could be recovered,
-- otherwise by its bytes, by what of them does not change (shape), or by what is wrong with it (fault).
alter table record_problem add column shape bytea;
alter table record_problem add column fault text;
-- How many records of the last pull that met it the entry stands for.
alter table record_problem add column records integer not null default 1;
