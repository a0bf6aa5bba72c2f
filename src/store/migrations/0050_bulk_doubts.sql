-- Decisions about many creates in doubt, bound to the attempts and the possible jobs that a person saw.

alter table bulk_action drop constraint bulk_action_action_check;
alter table bulk_action add constraint bulk_action_action_check
  check (action in ('edit', 'retry', 'discard', 'approve', 'reopen', 'missing', 'check'));

-- A create can be in doubt again with the same desired state, and its possible jobs change while it is in doubt: both are another
-- revision of its entry. At most 15 digits, like the revisions of the sequence.
create function entry_revision(state text, revision bigint, attempt_token uuid, found_job_id text, reason jsonb)
returns bigint language sql stable as $$
  select case when state <> 'in_doubt' then revision
    else hashtextextended(jsonb_build_array(
      revision, attempt_token, found_job_id, reason->'candidates', reason->'crowded')::text, 0) & 562949953421311 end
$$;

create or replace function group_change() returns trigger language plpgsql as $$
declare
  own bigint := entry_revision(new.state, new.revision, new.attempt_token, new.found_job_id, new.reason);
begin
  -- A doubt is checked again and again.
  if tg_op = 'UPDATE' and old.state = new.state and old.since = new.since and old.feed = new.feed
    and old.reason is not distinct from new.reason and old.content_hash is not distinct from new.content_hash then
    update review_entry set revision = own where id = new.id and revision <> own;
    return null;
  end if;
  if new.state in ('rejected', 'failed', 'held', 'in_doubt', 'discarded') then
    perform write_review_entry(
      new.id, case when new.state = 'discarded' then coalesce(new.discarded_from, 'rejected') else new.state end,
      new.state = 'discarded', new.feed, new.key, new.site, coalesce(new.fields, new.sent_fields), new.reason, new.since, own);
  else
    delete from review_entry where id = new.id;
  end if;
  return null;
end
$$;

update review_entry e set revision = entry_revision(c.state, c.revision, c.attempt_token, c.found_job_id, c.reason)
from change c where c.id = e.id and c.state = 'in_doubt';
