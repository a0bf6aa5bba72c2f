-- What alert destinations were told is open, so that each change of state is told once, whichever process notices it.
create table open_alert (
  destination text not null,
  -- Such as paused or held.
  kind text not null,
  -- Such as "site board" or "feed acme".
  subject text not null,
  since timestamptz not null default now(),
  -- Who sees it: processes with one configuration are one evaluator, named by the key of the lock that one of them holds.
  evaluators text[] not null,
  -- When one of them last said so, within some minutes.
  seen_at timestamptz not null default now(),
  -- How many messages told it, when the last one did, and the fewest changes since then, for alerts that count some.
  messages integer not null default 1,
  told_at timestamptz not null default now(),
  count integer,
  primary key (destination, kind, subject)
);

-- Messages for destinations, written together with the state change that they tell: they are sent at least once, under one ID.
create table alert_message (
  seq bigint generated always as identity primary key,
  id text not null unique default 'msg_' || replace(gen_random_uuid()::text, '-', ''),
  destination text not null,
  -- Messages about postings may be very many: they are sent apart, so that they delay no alert.
  topic text not null default 'alert' check (topic in ('alert', 'posting')),
  payload jsonb not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'dead')),
  created_at timestamptz not null default now(),
  attempts integer not null default 0,
  -- When it is sent next; -infinity: at once, because a person asked for it.
  not_before timestamptz not null default now(),
  -- While it is being sent: when another process may send it, because this one died. Identifies the attempt.
  claimed_until timestamptz,
  last_error text,
  delivered_at timestamptz
);
create index alert_message_due on alert_message (topic, destination, not_before, seq) where state = 'pending';
create index alert_message_dead on alert_message (topic, destination, seq) where state = 'dead';
create index alert_message_by_age on alert_message (created_at);
