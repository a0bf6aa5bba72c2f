-- Postings whose claim to a job ID has ended because the site answered a later create with it. One that gets the ID back
-- soon is held for one job with the other by the site, and a person decides.
create table ended_claim (
  site text not null,
  site_job_id text not null,
  feed text not null,
  key text not null,
  ended_at timestamptz not null default now(),
  primary key (site, site_job_id, feed, key)
);
create index ended_claim_by_age on ended_claim (ended_at);
