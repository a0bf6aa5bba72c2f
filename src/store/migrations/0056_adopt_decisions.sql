-- What a decision about one match needs, so that it does not read the whole feed again.
alter table adopt_proposal
  -- The posting as the matching read it; null: a former version made the proposal.
  add column fields json,
  -- The record that it was read from.
  add column record_hash bytea;
-- The version of the feed's source that the matching read; null if it has none.
alter table adopt_run add column feed_version text;
