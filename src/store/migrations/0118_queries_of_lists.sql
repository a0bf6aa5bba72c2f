-- When the site last took the query with which its list is read past caches, and since when it has refused that.
alter table site_state add column list_query_taken_at timestamptz;
alter table site_state add column list_query_refused_at timestamptz;
