-- Monitoring counts the changes in each state and finds the oldest without reading the wide rows. Replaces an index on its
-- first two columns.
create index change_by_state on change (site, state, feed, since) where state <> 'ready';
drop index change_waiting;
create index record_problem_open on record_problem (feed, kind) where not discarded;
