-- Postings that a site refused without saying what is wrong with them, while it may refuse every posting so: there are few, and each
-- such refusal asks for them.
create index change_set_up on change (site) where reason->>'kind' = 'set_up';
