-- The rate that a site has taught by asking to wait, in requests a second over all processes; null: it takes the configured one.
alter table site_state add column learnt_rate double precision;
alter table site_state add column rate_changed_at timestamptz;
-- Requests since the rate changed, and whether it has grown since the site asked to wait.
alter table site_state add column rate_turns integer not null default 0;
alter table site_state add column rate_grown boolean not null default false;
alter table site_state add column throttled_at timestamptz;
-- When the next request may leave, while a learnt rate is below the configured one.
alter table site_state add column next_turn timestamptz not null default '-infinity';

-- Tokens that a site refuses, as digests that only this installation can compare. Processes with another token go on.
create table refused_token (
  site text not null,
  digest text not null,
  -- Null: the site took it again; how often it was asked stays known for a while.
  refused_since timestamptz,
  cause text not null,
  -- The process that met the refusal last: machine and process number.
  noted_by text not null,
  probes integer not null default 0,
  next_probe timestamptz,
  changed_at timestamptz not null default now(),
  primary key (site, digest)
);

-- When old rows were removed last, by whatever process: so that each command need not look for them.
alter table installation add column retention_at timestamptz;
create index pull_by_age on pull (started_at);
