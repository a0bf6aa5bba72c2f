-- The site has answered that it created the job, and has not shown it since, nor accepted an update of it: whoever denies such a job may
-- only not show it.
alter table mapping add column never_shown boolean not null default false;

-- Whether the site shows jobs right after it created them, as samples tell: when one was shown; one that was not, which counts as hidden
-- once the site has shown any job of ours; and since when it does.
alter table site_state add column new_shown_at timestamptz;
alter table site_state add column new_hidden_job text;
alter table site_state add column hides_new_since timestamptz;
