-- How the keys of a feed's live jobs were read, so that a record which can't be read is not taken for a new posting once
-- keys are read in another way.
alter table feed_state add column key_rule text;
