-- Where the jobs of a site were made: host and path, without the scheme. Null until a request was accepted.
alter table site_state add column address text;
-- The address that a process was configured with when it found that it is another one; the site is paused since.
alter table site_state add column moved_to text;
