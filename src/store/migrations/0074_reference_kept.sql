-- Whether the site keeps the reference that creates send, as its jobs showed. It is known of this field at this address only.
alter table site_state add column reference_field text;
alter table site_state add column reference_address text;
-- When a job showed a reference first, and when a job that was sent one first showed everything else, but none.
alter table site_state add column reference_shown_at timestamptz;
alter table site_state add column reference_missing_at timestamptz;
alter table site_state add column reference_missing_job text;
