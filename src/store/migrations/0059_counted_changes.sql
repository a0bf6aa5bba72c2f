-- The sums of a pull count the changes that are not simply to be sent without reading their wide rows. Those that wait to be sent, or are
-- being sent, are counted by other indexes, so that sending a create or update writes no entry here. Replaces an index that had a part of it.
create index change_counted on change (feed, state, desired, gone, unseen)
  where state not in ('ready', 'sending') or desired = 'absent' or gone or unseen;
drop index change_discarded;
