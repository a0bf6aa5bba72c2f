-- Likely mistakes of each feed's mapping, found when all of its records were last read: a list of texts.

alter table feed_state add column warnings jsonb not null default '[]';
