-- Creates that a site refused because one of its jobs has their reference: whenever a job of ours is deleted, those that it kept out are
-- sent again.
create index change_taken on change (site) where reason ? 'taken';
