-- Before the first create of a feed the site's list is read for jobs that have its references: this database may know less
-- than the site. Until then no create of the feed is claimed.
alter table feed_state add column site_checked_at timestamptz;
-- How far the reading is, why it failed, or what a person should know of it.
alter table feed_state add column site_check_note text;
alter table feed_state add column site_check_failed_at timestamptz;
update feed_state f set site_checked_at = now()
where exists (select from mapping m where m.feed = f.feed)
  or exists (select from change c where c.feed = f.feed and c.attempt_operation = 'create');

-- The site job that seems to be the one of a create that was never sent: a person says whether it is.
alter table change add column found_job_id text;

-- Jobs of the site that no mapping owned when its list was read, by the usual form of their reference.
create table site_reference (
  site text not null,
  site_job_id text not null,
  reference text not null,
  primary key (site, site_job_id)
);
create index site_reference_by_form on site_reference (site, reference);

-- Where the database was when it was used last: in another place it was restored, and may know less than the site.
alter table installation add column place text;
