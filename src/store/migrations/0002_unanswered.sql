-- Updates and deletes whose outcome is unknown: what the site has for these postings is not certain until a later
-- request is accepted, and an earlier one may still arrive.
create table unanswered (
  feed text not null,
  key text not null,
  -- The wish that was sent. Until the request can't arrive any more, only that very wish may be sent again (law 5).
  revision bigint not null,
  -- The fields that may have been set; null: they are certain again, but an earlier request may still arrive.
  fields text[],
  until timestamptz not null,
  primary key (feed, key)
);
