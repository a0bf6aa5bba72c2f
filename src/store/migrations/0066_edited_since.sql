-- A person has edited the posting after the pull: it has changed since, so that undoing the pull leaves it out. `fields` is null.
alter table former_document add column edited boolean not null default false;
