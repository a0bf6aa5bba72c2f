-- The details of postings whose lists lack a part of them, so that none is requested twice.
create table detail (
  feed text not null,
  -- Hash of the record in the list, and of how its detail is requested.
  list_hash bytea not null,
  key text not null,
  -- UTF-8, gzip.
  body bytea not null,
  fetched_at timestamptz not null default now(),
  primary key (feed, list_hash)
);
create index detail_by_key on detail (feed, key);
