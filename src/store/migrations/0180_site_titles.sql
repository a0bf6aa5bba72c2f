-- Sites cut and rewrite references, and lists may leave them out: a job that no mapping owns is recognised by its title too.
alter table site_reference add column title text;
create index site_reference_by_title on site_reference (site, title);
