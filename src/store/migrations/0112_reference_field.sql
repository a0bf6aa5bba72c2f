-- The field in which the site showed the references that a search found: creates are compared with them when they are claimed.
alter table site_reference add column field text;
