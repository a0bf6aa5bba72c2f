-- Feeds whose keys seem to have changed: until a person decides, nothing is created for them.
alter table feed_state
  add column rekey_since timestamptz,
  -- What a person should know about it.
  add column rekey_note jsonb,
  -- Creates with an entry number up to this one belong to new postings, as a person said.
  add column rekey_denied bigint not null default 0;

-- The postings of such a feed: those that are new, and those that are missing and have a job.
create table rekey_posting (
  feed text not null,
  is_new boolean not null,
  key text not null,
  -- Digest of the content without references and addresses.
  content text,
  -- Digest of title and place.
  likeness text,
  -- A complete pull found the posting; an incomplete one proves of no posting that it is missing.
  proven boolean not null,
  primary key (feed, is_new, key)
);
