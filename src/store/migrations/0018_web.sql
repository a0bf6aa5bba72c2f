-- Who is signed in to the pages, by the digest of a secret that only the browser has.
create table web_session (
  digest bytea primary key,
  user_name text not null,
  -- Digest of the password hash at the time: another password ends the session.
  credential bytea not null,
  created_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);

-- Requests of the API with an Idempotency-Key, with their answers; kept for a day.
create table web_request (
  -- The token or user.
  who text not null,
  key text not null,
  request bytea not null,
  claimed_at timestamptz not null default now(),
  -- Null while the first request is being answered.
  status smallint,
  headers jsonb,
  body text,
  primary key (who, key)
);
create index web_request_by_age on web_request (claimed_at);

-- What people did with one posting.
create index audit_by_posting on audit (feed, key, id desc) where key is not null;

-- Review page by page, oldest first: of all feeds, and of one.
create index review_entry_page on review_entry (discarded, kind, since, id);
create index review_entry_page_of_feed on review_entry (feed, discarded, kind, since, id);
