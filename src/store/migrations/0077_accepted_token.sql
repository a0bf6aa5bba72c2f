-- When the site last answered 401 to a token, and when the newest write was sent that it accepted with it. What is read with a token
-- proves that a job does not exist only if the site accepts the token: many sites show a part of their jobs to everybody.
alter table refused_token
  add column refused_at timestamptz,
  add column accepted_at timestamptz,
  alter column cause drop not null,
  alter column noted_by drop not null;
update refused_token set refused_at = changed_at;
comment on table refused_token is 'Tokens by which requests were accepted or refused: when, and whether the site is paused for their holders.';

-- When the create was first sent that a list has since shown as not made; null: no list has. If the site refuses the token when it is sent
-- again, that list may have been read without the rights of the token, and the create is in doubt again.
alter table change add column doubted_since timestamptz;
