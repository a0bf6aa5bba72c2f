-- What a change was before a person discarded it, so that it can be put back into review as that.
alter table change add column discarded_from text check (discarded_from in ('rejected', 'failed', 'held'));
update change set discarded_from = case
    when wanted = 'absent' and resting = 'held' then 'held'
    when invalid or reason->>'kind' in ('rules', 'rejected', 'gone') then 'rejected'
    else 'failed'
  end
where state = 'discarded';

-- Postings and records that stood discarded when the pull ended: the site does not have them as the feed does.
alter table pull add column discarded integer not null default 0;
