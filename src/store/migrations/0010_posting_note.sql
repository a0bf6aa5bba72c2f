-- What was changed in a posting's fields on the way to the site, such as characters removed that XML can't carry.
create table posting_note (
  feed text not null,
  key text not null,
  notes jsonb not null,
  noted_at timestamptz not null default now(),
  primary key (feed, key)
);
