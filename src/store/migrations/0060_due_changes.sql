-- Most changes may be sent at once and wait for no time: those of a first pull need no entry here.
drop index change_due;
create index change_due on change (feed, not_before) where state = 'ready' and not_before > '-infinity';
