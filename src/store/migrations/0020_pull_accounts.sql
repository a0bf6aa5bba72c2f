-- What a pull left open when a later one took its feed over, so that its counts still add up (law 2).
alter table pull add column taken_over_by bigint;
alter table pull add column left_open jsonb;

-- An open change whose posting the last pull, an incomplete one, did not see: it counts towards none until one sees it.
alter table change add column unseen boolean not null default false;
create index change_unseen on change (feed) where unseen;

-- When a person took a feed out of service: its jobs stay, and a feed that is new is not taken for it.
alter table feed_state add column retired_at timestamptz;

create index audit_by_age on audit (at);
