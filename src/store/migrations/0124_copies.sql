-- What tells the copy of the feed that the pull has read from others, and what it left undone as the source returns older copies. Null: nothing came
-- from the web, or no complete pull has read it.
alter table pull add column copy jsonb;
