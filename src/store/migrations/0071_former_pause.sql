-- Why a site was paused until a person decides, before it was paused because base_url leads to another address; null: it was not.
alter table site_state add column former_pause jsonb;
