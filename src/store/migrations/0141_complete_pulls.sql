-- The last complete pull of a feed, however many incomplete ones came after it.
create index pull_complete on pull (feed, id desc) where complete;
