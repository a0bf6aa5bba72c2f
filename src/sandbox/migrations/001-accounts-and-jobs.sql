-- Accounts, their sessions, and their jobs.

create table sandbox.account (
  id            integer generated always as identity primary key,
  email         text not null unique check (email = lower(email)),
  password_hash text not null,
  -- Stored as plain text, because "My Account" shows it (site-interface.md, section 5, rule 4).
  token         text not null unique,
  created_at    timestamptz not null default now()
);

create table sandbox.session (
  id_hash    bytea primary key,
  account_id integer not null references sandbox.account on delete cascade,
  expires_at timestamptz not null
);

create sequence sandbox.job_sequence;

create table sandbox.job (
  sequence   bigint primary key,
  id         text not null unique,
  -- No foreign key: accounts are never deleted, and each insert would lock the poster's one row in account.
  owner_id   integer not null,
  -- Postal abbreviation of the state in the fields, whatever notation the settings use.
  state      text not null,
  fields     jsonb not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);

create index job_state on sandbox.job (state, sequence);
create index job_owner on sandbox.job (owner_id, sequence);
