-- What a question about changed keys is about: all creates and deletes of the feed, or only the postings of rekey_posting.
alter table feed_state
  add column rekey_all boolean not null default true,
  -- Second jobs that are older than this belong to new postings, as a person said.
  add column rekey_denied_at timestamptz;
alter table rekey_posting
  -- The create of the new posting waits, as the job of a posting with its content may be its own.
  add column waits boolean not null default false,
  -- The new posting already has this job, beside that of the missing posting with its content.
  add column second_job text;
alter table rekey_line add column second_job text;
-- How many creates of this pull had the content of postings that it found gone, and were sent.
alter table pull add column rekeyed integer not null default 0;
