-- What undoing a pull needs: what the site had before, which jobs the pull created, and which feeds wait after an undo.

-- What the site had of a posting before a pull changed or deleted its job. Creates need no row: mapping.created_by names the pull.
create table former_document (
  id bigint generated always as identity primary key,
  feed text not null,
  key text not null,
  pull bigint not null,
  at timestamptz not null default now(),
  -- The fields that the request changed, null for one that the job did not have; all fields if `whole`. Null: not known.
  fields json,
  -- The job was deleted, or found to be gone: `fields` are all that it had.
  whole boolean not null
);
create index former_document_by_pull on former_document (feed, pull, key);
create index former_document_by_age on former_document (at);

-- The pull whose create made the job; null for an adopted or imported job, and for jobs from before this was recorded.
alter table mapping add column created_by bigint;

-- The pull of the version that was sent, set with the other sent_ columns.
alter table change add column sent_pull bigint;

alter table pull
  -- What it changed is recorded completely and still kept.
  add column undoable boolean not null default false,
  -- This row is the undo of that pull.
  add column undoes bigint;

-- The undo since which the feed is not pulled, so that its source does not bring back what was undone; a person resumes it.
alter table feed_state
  add column stopped_at timestamptz,
  add column stopped_by bigint;

do $$
begin
  alter table former_document alter column fields set compression lz4;
exception when feature_not_supported then
  alter table former_document alter column fields set storage external;
end
$$;
