-- Site jobs that showed that this database knows less than the site: each has the site searched once.
create table site_sign (
  site text not null,
  site_job_id text not null,
  noted_at timestamptz not null default now(),
  -- Creates of the site wait for the search; not where a search for another sign has just been.
  blocks boolean not null,
  -- When a search was begun for it.
  taken_at timestamptz,
  primary key (site, site_job_id)
);

-- The reference as the site shows it; a mapping whose posting has another one; who found it, and when.
alter table site_reference add column shown text;
alter table site_reference add column contradicts boolean not null default false;
alter table site_reference add column by_search boolean not null default true;
alter table site_reference add column read_at timestamptz;

-- A person said that the site has none of the feed's jobs: what lists show by the way is not compared with its creates.
alter table feed_state add column site_declared boolean not null default false;

-- Site jobs that a person said are not a posting's: nobody is asked about the two again.
create table refuted_job (
  site text not null,
  site_job_id text not null,
  feed text not null,
  key text not null,
  primary key (feed, key, site, site_job_id)
);

-- A row that names the transaction that wrote it. A row that a restore of the data brought back was written by another one.
create table data_stamp (
  one boolean primary key default true check (one),
  stamp text not null
);
insert into data_stamp (stamp) values ((txid_current() % 4294967296)::text);
