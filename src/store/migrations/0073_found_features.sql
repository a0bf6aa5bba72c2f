-- What the site's list shows of a job that no mapping owns, as far as a later create is compared with it: see `src/plan/adopt`. The values
-- of fields are stored as digests.
alter table site_reference add column features text;
-- Digests of values in which a posting and its job agree at least once; jobs are found by them.
alter table site_reference add column blocks bigint[] not null default '{}';
-- The job's text holds the token, so that its values were not compared.
alter table site_reference add column secret boolean not null default false;
-- The list shows that the job may be another user's.
alter table site_reference add column foreign_owner boolean not null default false;
-- When a reading of the list showed it first.
alter table site_reference add column found_at timestamptz not null default now();
create index site_reference_by_block on site_reference using gin (blocks) with (fastupdate = off);
create index site_reference_secret on site_reference (site) where secret;
-- Replaced by the blocks.
drop index site_reference_by_title;
alter table site_reference drop column title;

-- A person said so of this job; with an empty job ID, of all jobs that were known at that time.
alter table refuted_job add column at timestamptz not null default now();
