-- A rewriting that a person has vouched for, by naming the job of a create in doubt: it counts although the site has also
-- shown values otherwise.
alter table value_rewrite add column taught boolean not null default false;
