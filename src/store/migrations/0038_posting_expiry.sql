-- Postings whose job ends after a number of days although the feed still has them (expire_after_days). One row per posting that expired,
-- as long as its feed has it, or whose time a person has started anew.
create table posting_expiry (
  feed text not null,
  key text not null,
  -- When its job was due to be deleted; null: it has not expired since its time was started anew.
  expired_at timestamptz,
  -- When a person, or the undo of a pull, started its time anew.
  renewed_at timestamptz,
  -- The job that it had when it expired.
  site_job_id text,
  -- The record with which it was last seen, so that the next pull need not parse it.
  record_hash bytea,
  -- Complete pulls in a row that did not see it.
  missing_pulls smallint not null default 0,
  primary key (feed, key),
  check ((expired_at is null) <> (renewed_at is null))
);

-- Records of expired postings. They are among the skipped ones.
alter table pull add column expired integer not null default 0;
